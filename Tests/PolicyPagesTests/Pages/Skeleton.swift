/// What a browser makes elements and attributes of: the tags of a page in order, and where its links lead.
///
/// Read scalar by scalar, as the tokenizer of HTML does, and not by what somebody meant.
struct Skeleton: Equatable {
    /// Each tag with the names of its attributes: `a href rel`.
    private(set) var tags: [String] = []
    /// The values of `href`, `src` and `action`.
    private(set) var links: [String] = []

    private var rest: ArraySlice<Unicode.Scalar>

    init(_ html: String) {
        rest = Array(html.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            guard scalar == "<", let next = rest.first else { continue }
            if next.properties.isAlphabetic || next == "/" {
                readTag()
            } else if next == "!" || next == "?" {
                tags.append("markup \(String(String.UnicodeScalarView(rest.prefix(12))))")
            }
        }
        rest = []
    }

    private static let blanks: Set<Unicode.Scalar> = [" ", "\n", "\t", "\r", "\u{C}"]

    private mutating func readTag() {
        var tag = read { !Self.blanks.contains($0) && $0 != ">" }
        while let next = rest.first, next != ">" {
            if Self.blanks.contains(next) || next == "/" {
                rest.removeFirst()
                continue
            }
            let name = read { !Self.blanks.contains($0) && $0 != "=" && $0 != ">" && $0 != "/" }
            var value = ""
            if rest.first == "=" {
                rest.removeFirst()
                if let quote = rest.first, quote == "\"" || quote == "'" {
                    rest.removeFirst()
                    value = read { $0 != quote }
                    _ = rest.popFirst()
                } else {
                    value = read { !Self.blanks.contains($0) && $0 != ">" }
                }
            }
            tag += " \(name)"
            if ["href", "src", "action"].contains(name) { links.append(value) }
        }
        tags.append(tag)
    }

    private mutating func read(while isPart: (Unicode.Scalar) -> Bool) -> String {
        let part = rest.prefix(while: isPart)
        rest = rest[part.endIndex...]
        return String(String.UnicodeScalarView(part))
    }
}
