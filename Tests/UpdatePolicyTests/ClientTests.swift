// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

@Suite("Clients")
struct ClientTests {
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
        "A known member of a wrong type is refused by its name",
        arguments: KnownMember.allCases,
        [MemberValue.number("7"), .boolean(true), .composite]
    )
    func wrongType(_ member: KnownMember, _ value: MemberValue) {
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
        for number in 0..<5_000 { try client.set(UTF8Text("m\(number)"), to: .text(UTF8Text("v\(number)"))) }
        for number in stride(from: 0, to: 5_000, by: 7) {
            #expect(client.attribute(UTF8Text("m\(number)")) == UTF8Text("v\(number)"))
            #expect(throws: ClientError.self) { try client.set(UTF8Text("m\(number)"), to: .null) }
        }
        #expect(client.attribute("m5000") == nil)
        #expect(client.attributes.count == 5_000)
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
