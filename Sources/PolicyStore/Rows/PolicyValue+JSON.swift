// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension PolicyValue {
    /// The value as JSON that `jsonb_populate_recordset` turns into the column's type.
    var json: String {
        switch self {
        case .null: "null"
        case .text(let text): Self.literal(text.string)
        case .texts(let texts): Self.list(texts)
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .percentage(let percentage): percentage.description
        case .time(let time): Self.literal(time.description)
        case .duration(let duration): Self.literal(duration.description)
        case .attributes(let attributes):
            "{"
                + attributes.sorted { $0.key < $1.key }
                .map { "\(Self.literal($0.key.string)):\(Self.list($0.value))" }
                .joined(separator: ",") + "}"
        }
    }

    private static func list(_ texts: [UTF8Text]) -> String {
        "[\(texts.map { literal($0.string) }.joined(separator: ","))]"
    }

    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
