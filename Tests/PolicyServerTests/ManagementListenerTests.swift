import Testing

@testable import PolicyServer

@Suite("Management listener")
struct ManagementListenerTests {
    @Test(
        "The listener may be asked by an address, localhost and a name that is configured",
        arguments: [
            "", "localhost", "LOCALHOST:9090", "localhost.", "127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]",
            "[::1]:9090", "[fe80::1]:9090", "gate.internal", "Gate.Internal:9090",
        ]
    )
    func allows(host: String) { #expect(HostCheck(names: ["gate.internal"]).isAllowed(host)) }

    @Test(
        "The listener may not be asked by any other name",
        arguments: [
            "evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example",
            "gate.internal.evil",
            "[::1", "[evil]", "127.0.0.1@evil.example", "evil.example#localhost", "1.2.3", ":9090", "127.1",
        ]
    )
    func refuses(host: String) { #expect(!HostCheck(names: ["gate.internal"]).isAllowed(host)) }

    @Test("The listener has names that are read from the configuration")
    func readsNames() throws {
        func names(_ text: String) throws(ConfigurationError) -> [String] {
            try ServerConfiguration { $0.name == "managementNames" ? text : nil }.managementNames
        }
        #expect(try names("") == [])
        #expect(try names("a.internal, b_2.internal") == ["a.internal", "b_2.internal"])
        for text in ["a,", "a b", "http://a", "a:9090", "*"] {
            #expect(throws: ConfigurationError.self, "\(text)") { try names(text) }
        }
    }
}
