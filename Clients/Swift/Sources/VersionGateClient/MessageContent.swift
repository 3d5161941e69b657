// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// A message of an answer, or the lockout that is kept of one.
struct MessageContent: Sendable, Hashable, Codable {
    var id: String
    var title: String
    var text: String
    /// The link as it came; nil if there is none, or none that an app may open.
    var link: String?
    var target: String?
    var isLockout = false
    /// After how many seconds it may be shown again.
    var remind: Int?
    /// How often it may be shown.
    var shows: Int?
    var canSkip = false

    /// Whether something is remembered of it.
    var hasHints: Bool { remind != nil || shows != nil || canSkip }

    private enum CodingKeys: String, CodingKey {
        case id, title, text, link, target, remind, shows
        case isLockout = "lockout"
        case canSkip = "skip"
    }
}

extension MessageContent {
    /// Reads a message; throws if a member that is known has another type.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        title = try members.decode(String.self, forKey: .title)
        text = try members.decode(String.self, forKey: .text)
        link = try members.decodeIfPresent(String.self, forKey: .link)
        target = try members.decodeIfPresent(String.self, forKey: .target)
        isLockout = try members.decodeIfPresent(Bool.self, forKey: .isLockout) ?? false
        remind = try members.decodeWholeNumber(in: 1...Self.greatestNumber, forKey: .remind)
        shows = try members.decodeWholeNumber(in: 1...Self.greatestNumber, forKey: .shows)
        canSkip = try members.decodeIfPresent(Bool.self, forKey: .canSkip) ?? false
        if let text = link, !Self.mayOpen(text) { link = nil }
        if isLockout { (remind, shows, canSkip) = (nil, nil, false) }
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

    /// The greatest whole number that each library can hold: 2^53 - 1.
    static let greatestNumber = 9_007_199_254_740_991

    private static let schemes = [
        "https://", "http://", "itms-apps:", "itms-appss:", "macappstore:", "market:", "ms-windows-store:",
    ]

    /// Whether an app may open the link: one of the schemes with something behind it, in printable ASCII.
    static func mayOpen(_ link: String) -> Bool {
        let bytes = Array(link.utf8)
        guard bytes.count <= 2_048, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        let lowercased = link.lowercased()
        return schemes.contains { lowercased.hasPrefix($0) && bytes.count > $0.utf8.count }
    }
}

/// What is valid as an answer of the server. A message that cannot be read is left out.
struct Answer: Decodable, Sendable {
    var messages: [MessageContent]

    private enum CodingKeys: CodingKey {
        case messages
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        messages = try members.decodeReadable(MessageContent.self, forKey: .messages)
    }
}

extension KeyedDecodingContainer {
    /// A whole number in any way of writing it; nil if it is null or not there.
    func decodeWholeNumber(in range: ClosedRange<Int>, forKey key: Key) throws -> Int? {
        guard let number = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard let whole = Int(exactly: number), range.contains(whole) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "no such whole number")
        }
        return whole
    }

    /// Those elements of an array that can be read.
    func decodeReadable<Element: Decodable>(_ type: Element.Type, forKey key: Key) throws -> [Element] {
        try decode([Readable<Element>].self, forKey: key).compactMap(\.element)
    }
}

/// An element of an array; nil if it cannot be read.
private struct Readable<Element: Decodable>: Decodable {
    var element: Element?

    init(from decoder: any Decoder) throws {
        element = try? Element(from: decoder)
    }
}
