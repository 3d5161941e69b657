import CheckListener
import Configuration
import Logging
import Testing

@testable import PolicyServer

@Suite("Settings")
struct SettingTests {
    private static func configuration(_ values: [String: String]) throws(ConfigurationError) -> ServerConfiguration {
        let values = Dictionary(
            uniqueKeysWithValues: values.map {
                (AbsoluteConfigKey(ConfigKey("versiongate.\($0)")), ConfigValue(.string($1), isSecret: false))
            }
        )
        return try ServerConfiguration(ConfigReader(provider: InMemoryProvider(values: values)))
    }

    @Test("Settings have names that are theirs alone, in three spellings")
    func haveNames() throws {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        let setting = try #require(Setting.all.first { $0.name == "maxConnectionsPerAddress" })
        #expect(setting.variable == "VERSIONGATE_MAX_CONNECTIONS_PER_ADDRESS")
        #expect(setting.option == "--max-connections-per-address")
        let hidden = try #require(Setting.all.first { $0.name == "headerTimeout" })
        #expect(hidden.option == nil)
    }

    @Test("Settings keep their defaults where they are not set or empty")
    func haveDefaults() throws {
        for values in [[:], ["port": "", "maxConnections": "", "idleTimeout": "", "rateLimit": "", "countDays": ""]] {
            let configuration = try Self.configuration(values)
            #expect(configuration.publicAddress == ListenAddress(host: "0.0.0.0", port: 8_080))
            #expect(configuration.publicListener == PublicListenerConfiguration())
            #expect(configuration.counting == CountingConfiguration())
        }
    }

    @Test("Settings take each the place that it is for")
    func areStored() throws {
        let configuration = try Self.configuration([
            "host": "::1", "port": "0", "managementHost": "10.0.0.1", "managementPort": "1", "managementNames": "a,b",
            "countInterval": "0", "countKeys": "2", "countDays": "3", "drainSeconds": "4.5", "maxConnections": "5",
            "maxConnectionsPerAddress": "0", "maxRequestsPerConnection": "6", "maxRequestLineBytes": "256",
            "maxHeaderBytes": "1024", "maxHeaderFields": "10", "headerTimeout": "0.5", "bodyTimeout": "0.25",
            "idleTimeout": "7", "maxBufferedBytes": "4096", "unreadTimeout": "8", "rateLimit": "9:10",
            "trustedProxies": "10.0.0.0/8", "logFormat": "json", "logLevel": "debug",
        ])
        #expect(configuration.publicAddress == ListenAddress(host: "::1", port: 0))
        #expect(configuration.managementAddress == ListenAddress(host: "10.0.0.1", port: 1))
        #expect(configuration.managementNames == ["a", "b"])
        #expect(configuration.counting == CountingConfiguration(interval: nil, maximumKinds: 2, daysKept: 3))
        #expect(configuration.logFormat == .json)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.drainDuration == .milliseconds(4_500))
        let limits = configuration.publicListener.limits
        #expect(limits.connections == 5)
        #expect(limits.connectionsPerAddress == 0)
        #expect(limits.requestsPerConnection == 6)
        #expect(limits.requestLineBytes == 256)
        #expect(limits.headerBytes == 1_024)
        #expect(limits.headerFields == 10)
        #expect(limits.headerTimeout == .milliseconds(500))
        #expect(limits.bodyTimeout == .milliseconds(250))
        #expect(limits.idleTimeout == .seconds(7))
        #expect(limits.bufferedBytes == 4_096)
        #expect(limits.unreadTimeout == .seconds(8))
        #expect(configuration.publicListener.rateLimit == (try RateLimit(parsing: "9:10")))
        #expect(configuration.publicListener.trustedProxies == (try TrustedProxies(parsing: "10.0.0.0/8")))
    }

    @Test(
        "Settings are refused with their names, their value and what they may be",
        arguments: [
            ("port", "65536", "--port (VERSIONGATE_PORT) is \"65536\"; it must be a whole number from 0 to 65535"),
            (
                "host", "*",
                "--host (VERSIONGATE_HOST) is \"*\"; write 0.0.0.0 for every IPv4 address of this machine, :: for every address"
            ),
            (
                "managementHost", "[::1]",
                "--management-host (VERSIONGATE_MANAGEMENT_HOST) is \"[::1]\"; write ::1, without brackets"
            ),
            (
                "host", "localhost:8080",
                "--host (VERSIONGATE_HOST) is \"localhost:8080\"; it must be a host name or an IP address alone; the port is a "
                    + "setting of its own"
            ),
            (
                "countInterval", "0.5",
                "--count-interval (VERSIONGATE_COUNT_INTERVAL) is \"0.5\"; it must be a whole number from 0 to 3600"
            ),
            (
                "headerTimeout", "soon",
                "VERSIONGATE_HEADER_TIMEOUT is \"soon\"; it must be a number of seconds from 0.1 to 3600"
            ),
            (
                "drainSeconds", "-1",
                "--drain-seconds (VERSIONGATE_DRAIN_SECONDS) is \"-1\"; it must be a number of seconds from 0 to 3600"
            ),
            (
                "idleTimeout", "nan",
                "VERSIONGATE_IDLE_TIMEOUT is \"nan\"; it must be a number of seconds from 0.1 to 3600"
            ),
            (
                "managementNames", "a:1",
                "--management-names (VERSIONGATE_MANAGEMENT_NAMES) is \"a:1\"; it must be host names without ports, "
                    + "separated by commas"
            ),
            (
                "rateLimit", "fast",
                "--rate-limit (VERSIONGATE_RATE_LIMIT): \"fast\" is not a rate; write PER_SECOND, from 0.001 to 1000000, "
                    + "or PER_SECOND:BURST with a whole burst from 1 to 1000000, such as 5:20"
            ),
            ("logFormat", "xml", "--log-format (VERSIONGATE_LOG_FORMAT) is \"xml\"; it must be one of text, json"),
            (
                "logLevel", "loud",
                "--log-level (VERSIONGATE_LOG_LEVEL) is \"loud\"; it must be one of trace, debug, info, notice, warning, "
                    + "error, critical"
            ),
            (
                "tlsKey", "k",
                "--tls-key is given without --tls-certificate (VERSIONGATE_TLS_CERTIFICATE); TLS needs both"
            ),
            (
                "tlsCertificate", "c",
                "--tls-certificate is given without --tls-key (VERSIONGATE_TLS_KEY); TLS needs both"
            ),
        ]
    )
    func areRefused(name: String, value: String, message: String) {
        let error = #expect(throws: ConfigurationError.self) { try Self.configuration([name: value]) }
        #expect(error?.description == message)
    }
}
