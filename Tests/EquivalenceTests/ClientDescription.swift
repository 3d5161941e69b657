// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// A client as its check describes it, for SQL as JSON and for the engine member by member.
struct ClientDescription: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        let name: String
        let value: MemberLiteral
    }

    var members: [Member]

    init(_ members: KeyValuePairs<String, MemberLiteral>) {
        self.members = members.map { Member(name: $0.key, value: $0.value) }
    }

    /// Adds a member.
    mutating func append(_ name: String, _ value: MemberLiteral) {
        members.append(Member(name: name, value: value))
    }

    /// The check's body.
    var json: String {
        "{" + members.map { "\(JSONText.quoted($0.name)): \($0.value.json)" }.joined(separator: ", ") + "}"
    }

    /// The client as the engine reads it.
    func client() throws -> Client {
        var client = Client()
        for member in members { try client.set(UTF8Text(member.name), to: member.value.memberValue) }
        try client.validate()
        return client
    }
}

extension ClientDescription: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, MemberLiteral)...) {
        members = elements.map { Member(name: $0.0, value: $0.1) }
    }
}

extension MemberLiteral: ExpressibleByStringLiteral {
    init(stringLiteral value: String) {
        self = .text(value)
    }
}
