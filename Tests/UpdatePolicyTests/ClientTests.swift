import TestPolicies
import Testing
import UpdatePolicy

@Suite("Clients")
struct ClientTests {
    @Test("A client has room for every field")
    func hasRoom() throws {
        #expect(ClientField.allCases.count <= 16)
        #expect(ClientField.allCases.map { Int($0.rawValue) } == Array(ClientField.allCases.indices))
        for field in ClientField.allCases {
            var client = Client()
            try client.set(field, to: .text("1"))
            #expect(throws: ClientError(member: field.name, reason: .duplicate)) {
                try client.set(field, to: .text("2"))
            }
        }
    }

    @Test("What is empty, null, or a version with a sign or exponent was not sent")
    func notSent() throws {
        var client = Client()
        try client.set("bundle", to: .text("com.example.doto"))
        try client.set("region", to: .null)
        try client.set("version", to: .number("1e2"))
        try client.set("build", to: .number("-4"))
        try client.set("os", to: .text(""))
        try client.set("channel", to: .text(""))
        try client.set("nothing", to: .null)
        try client.set("object", to: .composite)
        try client.validate()
        #expect(client.region == nil && client.regionText == nil)
        #expect(client.version == nil && client.versionText == nil)
        #expect(client.build == nil && client.os == nil)
        #expect(client.attribute("channel") == nil)
        #expect(client.attributes.isEmpty)
    }

    @Test("A number is taken as it was written")
    func numbers() throws {
        var client = Client()
        try client.set("version", to: .number("1.10"))
        try client.set("n", to: .number("1.0"))
        try client.set("f", to: .boolean(true))
        #expect(client.version == AppVersion("1.10.0"))
        #expect(client.versionText == "1.10")
        #expect(client.attribute("n") == "1.0")
        #expect(client.attribute("f") == "true")
    }

    @Test(
        "A known member of a wrong type is refused by its name", arguments: ClientField.allCases,
        [MemberValue.number("7"), .boolean(true), .composite]
    )
    func wrongType(_ member: ClientField, _ value: MemberValue) {
        let takesNumbers = [.version, .build, .os].contains(member)
        var client = Client()
        do throws(ClientError) {
            try client.set(UTF8Text(member.name), to: value)
            #expect(takesNumbers && value == .number("7"))
        } catch {
            #expect(error.member == member.name)
            #expect(error.reason == .wrongType(expected: takesNumbers ? "a string or a number" : "a string"))
            #expect(error.message.contains("`\(member.name)`"))
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
        #expect(throws: ClientError.missingBundle) { try client.validate() }
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
        var client = Client()
        #expect(throws: ClientError(member: "bundle", reason: .tooLong(maximum: 255))) {
            try client.set("bundle", to: .text(UTF8Text(String(repeating: "b", count: 256))))
        }
        client = Client()
        try client.set("bundle", to: .text(UTF8Text(String(repeating: "b", count: 255))))
        try client.validate()
    }

    @Test("A language, region or platform of 65 bytes was not sent, one of 64 was")
    func longTags() throws {
        for (length, isSent) in [(64, true), (65, false)] {
            let client = try TestPolicy.client([
                "language": "de-" + String(repeating: "x", count: length - 3),
                "region": "de-DE-" + String(repeating: "x", count: length - 6),
                "platform": String(repeating: "\u{E9}", count: length / 2) + String(repeating: "x", count: length % 2),
            ])
            #expect((client.language != nil) == isSent)
            #expect((client.region != nil) == isSent && (client.regionText != nil) == isSent)
            #expect((client.platformText != nil) == isSent)
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
        #expect(throws: ClientError.self) {
            try client.set(UTF8Text(String(repeating: "n", count: 129)), to: .null)
        }
    }

    @Test("An empty bundle is a missing one")
    func emptyBundle() throws {
        var client = Client()
        try client.set("bundle", to: .text(""))
        #expect(throws: ClientError.missingBundle) { try client.validate() }
    }

    @Test("A long name is cut in the message")
    func longName() throws {
        var client = Client()
        let name = String(repeating: "n", count: 5_000)
        try client.set(UTF8Text(name), to: .null)
        do throws(ClientError) {
            try client.set(UTF8Text(name), to: .null)
        } catch {
            #expect(error.message.utf8.count < 100)
        }
    }

    @Test(
        "An install id of no use was not sent",
        arguments: ["", String(repeating: "x", count: 129), "00000000-0000-0000-0000-000000000000"]
    )
    func install(_ install: String) throws {
        var client = Client()
        try client.set("install", to: .text(UTF8Text(install)))
        #expect(client.install == nil)
    }
}
