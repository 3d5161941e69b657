// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension String {
    /// The text with terminal controls escaped: control characters, embeddings, overrides and isolates of text
    /// direction, and the separators of lines and paragraphs. Direction marks and joiners stay.
    ///
    /// - Parameter keepsNewlines: Whether line breaks stay; otherwise they are written out as well.
    public func visible(keepsNewlines: Bool = false) -> String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": text += keepsNewlines ? "\n" : "\\n"
            case _ where scalar.steersTerminal:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal interprets it as a control instead of showing it.
    public var steersTerminal: Bool {
        switch value {
        case 0x2028...0x202E, 0x2066...0x2069: true
        default: properties.generalCategory == .control
        }
    }
}
