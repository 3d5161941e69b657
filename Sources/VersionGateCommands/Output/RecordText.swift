// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore

/// Lays out one record as a line per field; fields without a value are left out.
struct RecordText {
    private let fields: [RecordField]

    init(_ fields: [RecordField]) {
        self.fields = fields
    }

    /// The record, without a line break at its end.
    var text: String {
        let shown = fields.compactMap { field in field.value.map { (name: field.name, value: $0) } }
        let width = shown.map(\.name.count).max() ?? 0
        return shown.map { name, value in
            let indentation = "\n" + String(repeating: " ", count: width + 2)
            return name + String(repeating: " ", count: width - name.count + 2)
                + value.replacing("\n", with: indentation)
        }.joined(separator: "\n")
    }
}
