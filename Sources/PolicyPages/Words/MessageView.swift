import UpdatePolicy

extension Message {
    /// The message as a phone would show it, for the template `message`.
    ///
    /// - Parameters:
    ///   - label: What stands above it: `the rule's own`, `de`.
    ///   - language: The language, for screen readers; empty: not known.
    func view(label: String = "", language: String) -> JSONValue {
        [
            "id": id, "ruleAddress": PageRoute.rule(id).path, "language": language, "label": label, "title": title,
            "text": text, "link": link, "address": link.flatMap(Self.followed), "lockout": lockout,
            "hints": hints?.sentence,
        ]
    }

    /// A link that a browser may follow from a page; nil for schemes of phones.
    private static func followed(_ link: String) -> String? {
        let scheme = link.prefix { $0 != ":" }.lowercased()
        return scheme == "https" || scheme == "http" ? link : nil
    }
}
