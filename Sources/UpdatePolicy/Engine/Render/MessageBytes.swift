/// The pieces of an answer's JSON, which begin and end where prepared bytes are put in.
enum MessageBytes {
    static var opening: StaticString { #"{"messages":["# }
    static var closing: StaticString { "]}" }
    static var emptyAnswer: StaticString { #"{"messages":[]}"# }
    static var emptyLegacyAnswer: StaticString { "{}" }
    static var end: StaticString { "}" }

    /// Appends a message up to its link, but for the name of the text's member.
    ///
    /// - Returns: Where the name must be put in.
    static func append(id: String, title: String, text: String, to bytes: inout [UInt8]) -> Int {
        bytes += #"{"id":"#.utf8
        JSONString.append(id, to: &bytes)
        bytes += #","title":"#.utf8
        JSONString.append(title, to: &bytes)
        bytes += #",""#.utf8
        let split = bytes.count
        bytes += #"":"#.utf8
        JSONString.append(text, to: &bytes)
        return split
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

    /// How many bytes a rule's prepared message has, up to its link.
    func size(ofMessage index: Int, _ place: Int) -> Int {
        let fragment = pools.fragments[rules[index].fragments.indices.lowerBound + place]
        return fragment.end - fragment.start
    }

    /// Appends a rule's prepared message, up to its text, with the name of the member that holds the text.
    @inline(__always)
    func appendMessage(of index: Int, _ place: Int, textName: StaticString, to bytes: inout ByteWriter) {
        let fragment = pools.fragments[rules[index].fragments.indices.lowerBound + place]
        append(fragment.start..<fragment.split, to: &bytes)
        bytes.append(textName)
        append(fragment.split..<fragment.end, to: &bytes)
    }

    /// Appends some of the prepared bytes.
    @inline(__always)
    func append(_ range: Range<Int>, to bytes: inout ByteWriter) {
        if range.isEmpty { return }
        pools.bytes.withUnsafeBytes { bytes.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
