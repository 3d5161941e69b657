// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Configuration
import Hummingbird
import Testing

@testable import PolicyServer

@Suite("The management listener")
struct ManagementListenerTests {
    @Test("gives each new connection a place, and takes that of the one that did nothing for longest")
    func givesPlaces() {
        var places = ManagementPlaces<Int>(total: 3, keptForLoopback: 0)
        for id in 1...3 { #expect(places.open(id, isLoopback: true) == nil) }
        places.note(1, isIdle: false)
        places.note(1, isIdle: true)
        #expect(places.open(4, isLoopback: true) == 2, "1 has been used since")
        places.note(3, isIdle: false)
        #expect(places.open(5, isLoopback: true) == 1, "3 is being answered")
        places.close(4)
        #expect(places.open(6, isLoopback: true) == nil)
        for id in [5, 6] { places.note(id, isIdle: false) }
        #expect(places.open(7, isLoopback: true) == 3, "all are being answered")
    }

    @Test("keeps places for its own machine, which others cannot take")
    func keepsPlaces() {
        var places = ManagementPlaces<Int>(total: 4, keptForLoopback: 1)
        for id in 1...3 { #expect(places.open(id, isLoopback: false) == nil) }
        #expect(places.open(4, isLoopback: false) == 1)
        #expect(places.open(10, isLoopback: true) == nil, "the place that is kept")
        #expect(places.open(11, isLoopback: true) == 2, "others make room first")
        for id in 12...13 { #expect(places.open(id, isLoopback: true) != nil) }
        #expect(places.open(14, isLoopback: true) == 10, "there are no others any more")
        #expect(places.open(5, isLoopback: false) == 11, "a full listener still takes a new one")
    }

    @Test(
        "may be asked by an address, localhost and a name that is configured",
        arguments: [
            "", "localhost", "LOCALHOST:9090", "localhost.", "127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]",
            "[::1]:9090", "[fe80::1]:9090", "gate.internal", "Gate.Internal:9090",
        ]
    )
    func allows(host: String) {
        #expect(HostCheck<BasicRequestContext>(names: ["gate.internal"]).isAllowed(host))
    }

    @Test(
        "may not be asked by any other name",
        arguments: [
            "evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example",
            "gate.internal.evil",
            "[::1", "[evil]", "127.0.0.1@evil.example", "evil.example#localhost", "1.2.3", ":9090", "127.1",
        ]
    )
    func refuses(host: String) {
        #expect(!HostCheck<BasicRequestContext>(names: ["gate.internal"]).isAllowed(host))
    }

    @Test("has names that are read from the configuration")
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
