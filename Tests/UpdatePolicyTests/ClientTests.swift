import TestPolicies
import Testing

@testable import UpdatePolicy

@Suite("Clients")
struct ClientTests {
    @Test("A client has room for every field")
    func hasRoom() throws {
        #expect(ClientField.allCases.count <= 16)
        #expect(ClientField.allCases.map { Int($0.rawValue) } == Array(ClientField.allCases.indices))
        for field in ClientField.allCases {
            var client = Client()
            try client.set(field, to: field == .manual ? .boolean(true) : .text("1"))
            #expect(throws: ClientError(member: field.name, reason: .duplicate)) {
                try client.set(field, to: .text("2"))
            }
        }
    }

    @Test(
        "What is empty, null, an object, or a version with a sign or exponent was not sent; a number is as it was written"
    )
    func notSent() throws {
        var client = Client()
        for (name, value) in [
            ("bundle", .text("com.example.doto")), ("region", .null), ("version", .number("1e2")),
            ("build", .number("-4")), ("os", .text("")), ("channel", .text("")), ("nothing", .null),
            ("object", .composite),
        ] as [(UTF8Text, MemberValue)] {
            try client.set(name, to: value)
        }
        try client.validate()
        #expect(client.regionText == nil && client.versionText == nil && client.build == nil && client.os == nil)
        #expect(client.attributes.isEmpty)
        var other = Client()
        try other.set("version", to: .number("1.10"))
        #expect(other.versionText == "1.10")
    }

    @Test(
        "A known member of a wrong type is refused by its name", arguments: ClientField.allCases,
        [MemberValue.number("7"), .boolean(true), .text("true"), .composite]
    )
    func wrongType(_ member: ClientField, _ value: MemberValue) {
        let takesNumbers = [.version, .build, .os].contains(member)
        let isTaken: Bool
        switch value {
        case .text: isTaken = member != .manual
        case .boolean: isTaken = member == .manual
        case .number: isTaken = takesNumbers
        case .null, .composite: isTaken = false
        }
        let expected = member == .manual ? "true or false" : takesNumbers ? "a string or a number" : "a string"
        var client = Client()
        do throws(ClientError) {
            try client.set(UTF8Text(member.name), to: value)
            #expect(isTaken)
        } catch {
            #expect(error.member == member.name)
            #expect(!isTaken && error.reason == .wrongType(expected: expected))
            #expect(error.description.contains("`\(member.name)`"))
        }
    }

    @Test("A duplicate is refused, whatever its value, known or not", arguments: ["bundle", "x", "", "é"])
    func duplicates(_ name: String) throws {
        var client = Client()
        try client.set(UTF8Text(name), to: .null)
        #expect(throws: ClientError(member: name, reason: .duplicate)) {
            try client.set(UTF8Text(name), to: .text("a"))
        }
    }

    @Test("Names are exact: case and the form of accents count")
    func exactNames() throws {
        var client = Client()
        try client.set("Bundle", to: .text("a"))
        try client.set("é", to: .text("composed"))
        try client.set("e\u{301}", to: .text("decomposed"))
        #expect(client.attribute("é") == "composed")
        #expect(client.attribute("e\u{301}") == "decomposed")
        #expect(throws: ClientError(member: "bundle", reason: .missing)) { try client.validate() }
    }

    @Test("Thousands of members are kept apart")
    func manyMembers() throws {
        var client = Client()
        for number in 0..<5_000 {
            let value = number % 100 == 0 ? MemberValue.text(UTF8Text("v\(number)")) : .null
            try client.set(UTF8Text("m\(number)"), to: value)
        }
        for number in stride(from: 0, to: 5_000, by: 7) {
            #expect(client.attribute(UTF8Text("m\(number)")) == (number % 100 == 0 ? UTF8Text("v\(number)") : nil))
            #expect(throws: ClientError.self) { try client.set(UTF8Text("m\(number)"), to: .null) }
        }
        #expect(client.attribute("m5000") == nil)
        #expect(client.attributes.count == 50)
    }

    @Test("The 65th attribute is refused by its name; what was not sent is none")
    func tooManyAttributes() throws {
        var client = Client()
        for number in 1...64 { try client.set(UTF8Text("m\(number)"), to: .boolean(true)) }
        for (number, value) in [MemberValue.null, .composite, .text("")].enumerated() {
            try client.set(UTF8Text("n\(number)"), to: value)
        }
        try client.set("bundle", to: .text("com.example.doto"))
        try client.validate()
        #expect(client.attributes.count == 64)
        #expect(throws: ClientError(member: "last", reason: .tooManyAttributes(maximum: 64))) {
            try client.set("last", to: .text("x"))
        }
    }

    @Test("A bundle of 256 bytes is refused, one of 255 is not")
    func longBundle() throws {
        _ = try TestPolicy.client(["bundle": String(repeating: "b", count: 255)])
        #expect(throws: ClientError(member: "bundle", reason: .tooLong(maximum: 255))) {
            try TestPolicy.client(["bundle": String(repeating: "b", count: 256)])
        }
    }

    @Test("An attribute with a name of 129 bytes or a value of 1,025 was not sent, but is there for a duplicate")
    func longAttributes() throws {
        var client = Client()
        for (name, value) in [(128, 1_024), (129, 1), (127, 1_025)] {
            try client.set(
                UTF8Text(String(repeating: "n", count: name)),
                to: .text(UTF8Text(String(repeating: "v", count: value)))
            )
        }
        try client.set("digits", to: .number(UTF8Text(String(repeating: "1", count: 1_025))))
        #expect(client.attributes.map(\.name.string.utf8.count) == [128])
        #expect(throws: ClientError.self) { try client.set(UTF8Text(String(repeating: "n", count: 129)), to: .null) }
    }

    @Test("A long name is cut in the message")
    func longName() throws {
        var client = Client()
        let name = String(repeating: "n", count: 5_000)
        try client.set(UTF8Text(name), to: .null)
        do throws(ClientError) {
            try client.set(UTF8Text(name), to: .null)
        } catch {
            #expect(error.description.utf8.count < 100)
        }
    }

}
