import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Member bounds")
struct MemberBoundTests {
    private static func fromBody(_ body: String) throws -> Client {
        var client = Client()
        try Array(body.utf8).withUnsafeBytes { try CheckBodyDecoder.read($0, into: &client) }
        return client
    }

    private static func fromQuery(_ query: String) throws -> Client {
        var client = Client()
        try Array(query.utf8).withUnsafeBytes { try CheckQueryDecoder.read($0, into: &client) }
        return client
    }

    @Test(
        "Members that fill a request reach the engine no longer than their bounds", arguments: ["-", "a-", "A", "1."])
    func longMembers(_ text: String) throws {
        for member in ClientField.allCases where ![.bundle, .manual].contains(member) {
            let longest = 16_384 - #"{"bundle":"a","":""}"#.utf8.count - member.name.utf8.count
            let inBody = String(repeating: text, count: longest / text.utf8.count)
            let inQuery = String(inBody.prefix(8_000))
            for client in [
                try Self.fromBody(#"{"bundle":"a","\#(member.name)":"\#(inBody)"}"#),
                try Self.fromQuery("bundle=a&\(member.name)=\(inQuery)"),
            ] {
                #expect(client.language == nil && client.regionText == nil && client.platformText == nil)
                #expect(client.install == nil)
                #expect(client.version == nil && client.build == nil && client.os == nil)
            }
        }
        let value = String(repeating: text, count: 8_000 / text.utf8.count)
        #expect(try Self.fromBody(#"{"bundle":"a","x":"\#(value)","\#(value)":1}"#).attributes.isEmpty)
    }

    @Test("One byte order mark before the body is skipped, and faults name the byte of the body as it was sent")
    func mark() throws {
        for body in ["{\"bundle\":\"a\"}", " {\"bundle\":\"a\"}\n", "{\"bundle\" : \"\\u0061\"}"] {
            #expect(try Self.fromBody("\u{FEFF}" + body).bundle?.string == "a")
        }
        for body in ["\u{FEFF}", "\u{FEFF}\u{FEFF}{\"bundle\":\"a\"}", " \u{FEFF}{\"bundle\":\"a\"}"] {
            let fault = #expect(throws: RequestFault.self) { try Self.fromBody(body) }
            #expect(fault?.detail.hasPrefix("The body is not a JSON object") == true, "\(fault?.detail ?? "")")
        }
        let fault = #expect(throws: RequestFault.self) { try Self.fromBody("\u{FEFF}{\"bundle\" \"a\"}") }
        #expect(fault?.detail == "The body is not JSON: a colon is missing at byte 13.")
    }
}
