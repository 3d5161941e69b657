import Testing

@testable import PolicyServer

@Suite("Management listener")
struct ManagementListenerTests {
    @Test("The listener may be asked by an address, localhost and a name that is configured, and by no other")
    func checksHosts() {
        let hosts = HostCheck(names: ["gate.internal"])
        for host in [
            "", "localhost", "LOCALHOST:9090", "localhost.", "127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]",
            "[::1]:9090", "[fe80::1]:9090", "gate.internal", "Gate.Internal:9090",
        ] {
            #expect(hosts.isAllowed(host), "\(host)")
        }
        for host in [
            "evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example",
            "gate.internal.evil", "[::1", "[evil]", "127.0.0.1@evil.example", "evil.example#localhost", "1.2.3",
            ":9090", "127.1",
        ] {
            #expect(!hosts.isAllowed(host), "\(host)")
        }
    }
}
