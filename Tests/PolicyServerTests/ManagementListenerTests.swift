// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Configuration
import Hummingbird
import Testing

@testable import PolicyServer

@Suite("Management listener")
struct ManagementListenerTests {
    @Test("The listener closes the connection that did nothing for longest when the last slot is taken")
    func closesLongestIdle() {
        var slots = ConnectionSlots<Int>(total: 4)
        for id in 1...3 {
            #expect(slots.open(id, isLoopback: true) == [])
            #expect(slots.makeReplaceable(id) == [])
        }
        slots.note(1, isIdle: false)
        slots.note(1, isIdle: true)
        #expect(slots.open(4, isLoopback: true) == [2], "1 has been used since")
        slots.note(3, isIdle: false)
        #expect(slots.open(5, isLoopback: true) == [1], "3 is being answered")
        slots.close(4)
        #expect(slots.open(6, isLoopback: true) == [])
        #expect(slots.open(7, isLoopback: true) == [3], "nobody else has had time")
    }

    @Test("The listener closes nobody before there was time to send a request, and then as many as came meanwhile")
    func letsEachBeRead() {
        var slots = ConnectionSlots<Int>(total: 3)
        for id in 1...5 { #expect(slots.open(id, isLoopback: true) == []) }
        slots.note(5, isIdle: false)
        #expect(slots.makeReplaceable(2) == [2])
        #expect(slots.makeReplaceable(2) == [], "it is closed")
        #expect(slots.makeReplaceable(5) == [5], "too many are left")
        #expect(slots.makeReplaceable(1) == [1])
        #expect(slots.makeReplaceable(3) == [], "there is a slot")
        #expect(slots.open(6, isLoopback: true) == [3])
    }

    @Test("The listener closes connections from elsewhere before those of its own machine")
    func prefersLoopback() {
        var slots = ConnectionSlots<Int>(total: 4)
        for (id, isLoopback) in [(1, true), (2, false), (3, false)] {
            _ = slots.open(id, isLoopback: isLoopback) + slots.makeReplaceable(id)
        }
        #expect(slots.open(4, isLoopback: true) == [2])
        slots.note(3, isIdle: false)
        #expect(slots.open(5, isLoopback: false) == [1], "3 is being answered")
        #expect(slots.open(6, isLoopback: false) == [3])
    }

    @Test(
        "The listener may be asked by an address, localhost and a name that is configured",
        arguments: [
            "", "localhost", "LOCALHOST:9090", "localhost.", "127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]",
            "[::1]:9090", "[fe80::1]:9090", "gate.internal", "Gate.Internal:9090",
        ]
    )
    func allows(host: String) {
        #expect(HostCheck<BasicRequestContext>(names: ["gate.internal"]).isAllowed(host))
    }

    @Test(
        "The listener may not be asked by any other name",
        arguments: [
            "evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example",
            "gate.internal.evil",
            "[::1", "[evil]", "127.0.0.1@evil.example", "evil.example#localhost", "1.2.3", ":9090", "127.1",
        ]
    )
    func refuses(host: String) {
        #expect(!HostCheck<BasicRequestContext>(names: ["gate.internal"]).isAllowed(host))
    }

    @Test("The listener has names that are read from the configuration")
    func readsNames() throws {
        func names(_ text: String) throws(ConfigurationError) -> [String] {
            let values: [AbsoluteConfigKey: ConfigValue] = [
                "versiongate.managementNames": ConfigValue(.string(text), isSecret: false)
            ]
            return try ServerConfiguration(ConfigReader(provider: InMemoryProvider(values: values))).managementNames
        }
        #expect(try names("") == [])
        #expect(try names("a.internal, b_2.internal") == ["a.internal", "b_2.internal"])
        for text in ["a,", "a b", "http://a", "a:9090", "*"] {
            #expect(throws: ConfigurationError.self, "\(text)") { try names(text) }
        }
    }
}
