/// How the tables and cases write a text: `(empty)` is one of no characters, `{U+00A0}` a character, `{9*128}` a text that
/// stands so many times.
package enum CaseText {
    /// The text that is written.
    package static func read(_ written: String) -> String {
        if written == "(empty)" { return "" }
        return written.replacing(#/\{U\+([0-9A-F]{4,6})\}/#) { match in
            UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map(String.init) ?? ""
        }.replacing(#/\{([^{}]+)\*([0-9]+)\}/#) { match in
            String(repeating: String(match.1), count: Int(match.2) ?? 0)
        }
    }
}
