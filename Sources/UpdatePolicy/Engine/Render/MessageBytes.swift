/// The pieces of an answer's JSON, which begin and end where prepared bytes are put in.
enum MessageBytes {
    static var opening: StaticString { #"{"messages":["# }
    static var closing: StaticString { "]}" }
    static var emptyAnswer: StaticString { #"{"messages":[]}"# }
    static var emptyLegacyAnswer: StaticString { "{}" }
    static var end: StaticString { "}" }

    /// Appends a message in the old shape, which nothing is prepared of.
    static func appendLegacy(_ message: Message, to bytes: inout [UInt8]) {
        append(id: message.id, title: message.title, text: message.text, textName: "message", to: &bytes)
        if let link = message.link { append(link: link, to: &bytes) }
        if message.lockout { appendLockout(until: message.until, to: &bytes) }
    }

    /// Appends a message up to its link.
    static func append(id: String, title: String, text: String, textName: String = "text", to bytes: inout [UInt8]) {
        bytes += #"{"id":"#.utf8
        JSONString.append(id, to: &bytes)
        bytes += #","title":"#.utf8
        JSONString.append(title, to: &bytes)
        bytes += ",\"\(textName)\":".utf8
        JSONString.append(text, to: &bytes)
    }

    /// Appends a link, from the comma before its name on.
    static func append(link: String, to bytes: inout [UInt8]) {
        bytes += #","link":"#.utf8
        JSONString.append(link, to: &bytes)
    }

    /// Appends what makes a message a lockout, from the comma before its name on.
    static func appendLockout(until: Int64?, to bytes: inout [UInt8]) {
        bytes += #","lockout":true"#.utf8
        if let until { bytes += ",\"until\":\(until)".utf8 }
    }

    /// Appends hints, from the comma before the first name on.
    static func append(_ hints: MessageHints, to bytes: inout [UInt8]) {
        if let remind = hints.remind { bytes += ",\"remind\":\(remind)".utf8 }
        if let shows = hints.shows { bytes += ",\"shows\":\(shows)".utf8 }
        if hints.skip { bytes += #","skip":true"#.utf8 }
        guard let target = hints.target else { return }
        bytes += #","target":"#.utf8
        JSONString.append(target, to: &bytes)
    }
}

extension RuleGroup {
    /// The place of a rule's text in the first of some languages that it has: 0 for the rule's own, else one more than that
    /// of a translation.
    func textPlace(of index: Int, in languages: [UInt32]) -> Int {
        let own = rules[index].textLanguages.indices
        for number in languages {
            let found = own.partitioningIndex { pools.textLanguages[$0].number >= number }
            if found < own.upperBound, pools.textLanguages[found].number == number {
                return Int(pools.textLanguages[found].place)
            }
        }
        return 0
    }

    /// Where the prepared bytes of a rule's message lie, up to its link.
    @inline(__always)
    func message(of index: Int, _ place: Int) -> Range<Int> {
        pools.fragments[rules[index].fragments.indices.lowerBound + place]
    }

    @inline(__always)
    func append(_ range: Range<Int>, to bytes: inout ByteWriter) {
        if range.isEmpty { return }
        pools.bytes.withUnsafeBytes { bytes.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
