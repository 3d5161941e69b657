/// A message of an answer, or the lockout that is kept of one.
struct MessageContent: Sendable, Hashable {
    var id: String
    var title: String
    var text: String
    /// The link as it came; nil if there is none, or none that an app may open.
    var link: String?
    var target: String?
    var isLockout = false
    /// When a lockout ends by the clock of the server, in seconds since 1970.
    var until: Int?
    /// For how many seconds more a lockout holds, when it is given; nil if it has no end.
    var left: Int?
    /// After how many seconds it may be shown again.
    var remind: Int?
    /// How often it may be shown.
    var shows: Int?
    var canSkip = false

    /// Whether something is remembered of it.
    var hasHints: Bool { remind != nil || shows != nil || canSkip }
}

extension MessageContent {
    /// Reads a message; throws if a member that is known has another type.
    init(_ object: JSONObject) throws(JSONObject.Fault) {
        id = try object.required("id", \.string)
        title = try object.required("title", \.string)
        text = try object.required("text", \.string)
        link = try object.optional("link", \.string).flatMap { Self.mayOpen($0) ? $0 : nil }
        target = try object.optional("target", \.string)
        isLockout = try object.optional("lockout", \.boolean) ?? false
        until = try object.optional("until", \.count)
        remind = try object.optional("remind", \.count)
        shows = try object.optional("shows", \.count)
        canSkip = try object.optional("skip", \.boolean) ?? false
        if isLockout { (remind, shows, canSkip) = (nil, nil, false) }
    }

    /// The greatest whole number that each library can hold: 2^53 - 1.
    static let greatestNumber = 9_007_199_254_740_991

    private static let schemes = [
        "https://", "http://", "itms-apps:", "itms-appss:", "macappstore:", "market:", "ms-windows-store:",
    ]

    /// Whether an app may open the link: one of the schemes with something behind it, in printable ASCII, without a
    /// backslash, and without a name or password before the host.
    static func mayOpen(_ link: String) -> Bool {
        let bytes = Array(link.utf8)
        guard bytes.count <= 2_048, bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return false }
        let lowercased = link.lowercased()
        return schemes.contains { scheme in
            guard lowercased.hasPrefix(scheme), bytes.count > scheme.utf8.count else { return false }
            return !scheme.hasSuffix("//")
                || !lowercased.dropFirst(scheme.count).prefix { !"/?#".contains($0) }.contains("@")
        }
    }
}

extension MessageContent: Encodable {
    private enum CodingKeys: CodingKey {
        case id, title, text, link, target
    }

    /// Writes what is kept of a lockout.
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(title, forKey: .title)
        try members.encode(text, forKey: .text)
        try members.encodeIfPresent(link, forKey: .link)
        try members.encodeIfPresent(target, forKey: .target)
    }
}
