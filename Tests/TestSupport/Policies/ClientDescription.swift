package import UpdatePolicy

/// A client as its check describes it, for SQL as JSON and for the engine member by member.
package struct ClientDescription: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: MemberLiteral

        package init(name: String, value: MemberLiteral) {
            self.name = name
            self.value = value
        }
    }

    package var members: [Member]

    package init(_ members: KeyValuePairs<String, MemberLiteral>) {
        self.members = members.map { Member(name: $0.key, value: $0.value) }
    }

    /// Adds a member.
    package mutating func append(_ name: String, _ value: MemberLiteral) {
        members.append(Member(name: name, value: value))
    }

    /// The check's body.
    package var json: String {
        "{" + members.map { "\(JSONText.quoted($0.name)): \($0.value.json)" }.joined(separator: ", ") + "}"
    }

    /// The client as the engine reads it.
    package func client() throws -> Client {
        var client = Client()
        for member in members { try client.set(UTF8Text(member.name), to: member.value.memberValue) }
        try client.validate()
        return client
    }
}

extension ClientDescription: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, MemberLiteral)...) {
        members = elements.map { Member(name: $0.0, value: $0.1) }
    }
}
