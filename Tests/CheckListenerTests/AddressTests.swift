import NIOCore
import TestRandom
import Testing

@testable import CheckListener

@Suite("Client addresses")
struct AddressTests {
    @Test("Addresses are read as the system reads them", arguments: 0..<4)
    func agreesWithTheSystem(part: Int) throws {
        var random = SeededGenerator()
        for _ in 0..<2_500 {
            let text = Self.text(&random)
            let system = try? SocketAddress(ipAddress: text, port: 0)
            let address = IPAddress(text)
            #expect((address == nil) == (system == nil), "\(text), seed \(random.seed)")
            guard let address, let system else { continue }
            #expect(address == IPAddress(system), "\(text), seed \(random.seed)")
        }
    }

    /// A text that is often an address, and often nearly one.
    private static func text(_ random: inout SeededGenerator) -> String {
        var text = ""
        if random.chance(40) {
            text = (0..<4).map { _ in "\(Int.random(in: 0...300, using: &random))" }.joined(separator: ".")
        } else {
            let groups = Int.random(in: 1...9, using: &random)
            let gap = random.chance(50) ? Int.random(in: 0...groups, using: &random) : -1
            for group in 0..<groups {
                if group == gap { text += text.isEmpty ? "::" : ":" }
                text += String(UInt16.random(in: 0...UInt16.max, using: &random) >> 4, radix: 16)
                if group < groups - 1 || gap == groups { text += ":" }
            }
            if gap == groups { text += ":" }
            if random.chance(10) { text += ":192.0.2.\(Int.random(in: 0...256, using: &random))" }
        }
        if random.chance(20), !text.isEmpty {
            let index = text.index(text.startIndex, offsetBy: Int.random(in: 0..<text.count, using: &random))
            if random.chance(50) {
                text.remove(at: index)
            } else {
                text.insert(random.pick([":", ".", "0", "a", "g", " "]), at: index)
            }
        }
        return text
    }

    @Test(
        "Addresses of IPv6 count by their /64 network, of IPv4 each for itself, however IPv4 is written",
        arguments: [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true), ("::1", "::2", true),
        ]
    )
    func countTogether(one: String, other: String, together: Bool) throws {
        let first = AddressBlock(try #require(IPAddress(one)))
        let second = AddressBlock(try #require(IPAddress(other)))
        #expect((first == second) == together)
    }

    @Test(
        "Addresses are in the ranges that name them",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false),
            ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
            ("::1", "::1", true), ("::/0", "192.0.2.1", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ]
    )
    func areInRanges(range: String, address: String, isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        let address = try #require(IPAddress(address))
        #expect(range.contains(address) == isIn)
    }

    @Test(
        "Addresses have ranges that are refused when they are not what they look like",
        arguments: [
            "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0/8", "2001:db8::1/64", "", "/8", "x",
        ]
    )
    func refusesRanges(text: String) {
        #expect(AddressRange(text) == nil)
        #expect(throws: LimitSyntaxError.self) { try TrustedProxies(parsing: "192.0.2.1,\(text)") }
    }

    @Test(
        "Addresses of clients are the last ones in X-Forwarded-For that no trusted proxy has",
        arguments: [
            ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
            ("10.0.0.1", [], "10.0.0.1"),
            ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", ["198.51.100.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
            ("10.0.0.1", ["198.51.100.1", "203.0.113.9,10.0.0.2"], "203.0.113.9"),
            ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
            ("10.0.0.1", ["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
            ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", [" 2001:db8::1 "], "2001:db8::1"),
        ]
    )
    func findsClients(peer: String, forwardedFor: [String], client: String) throws {
        let proxies = try TrustedProxies(parsing: "10.0.0.0/8, ::1")
        let found = proxies.client(peer: try #require(IPAddress(peer)), forwardedFor: forwardedFor)
        #expect(found == IPAddress(client))
    }

    @Test("Addresses of clients are looked for behind at most 32 proxies")
    func readsFewProxies() throws {
        let proxies = try TrustedProxies(parsing: "10.0.0.0/8")
        let peer = try #require(IPAddress("10.0.0.1"))
        func client(behind count: Int) -> IPAddress {
            let chain = ["203.0.113.9"] + Array(repeating: "10.0.0.2", count: count)
            return proxies.client(peer: peer, forwardedFor: [chain.joined(separator: ", ")])
        }
        #expect(client(behind: 31) == IPAddress("203.0.113.9"))
        #expect(client(behind: 32) == IPAddress("10.0.0.2"))
        #expect(client(behind: 1_000) == IPAddress("10.0.0.2"))
        #expect(proxies.client(peer: peer, forwardedFor: [String(repeating: ",", count: 15_000)]) == peer)
    }
}
