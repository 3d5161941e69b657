// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Shows what somebody wrote within a message.
enum Quoted {
    /// The text in quotation marks on one line, and not all of it if it is long.
    static func text(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(61)
        var line = "\""
        for scalar in shown.prefix(60) {
            line += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: false) : String(scalar)
        }
        return line + (shown.count > 60 ? "…\"" : "\"")
    }
}
