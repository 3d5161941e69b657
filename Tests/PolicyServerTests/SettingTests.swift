import CheckListener
import Logging
import Testing

@testable import PolicyServer

@Suite("Settings")
struct SettingTests {
    private static func configuration(_ values: [String: String]) throws(ConfigurationError) -> ServerConfiguration {
        try ServerConfiguration { values[$0.name] }
    }

    @Test("Settings have names that are theirs alone, in three spellings")
    func haveNames() throws {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        let setting = try #require(Setting.all.first { $0.name == "maxConnectionsPerAddress" })
        #expect(setting.variable == "VERSIONGATE_MAX_CONNECTIONS_PER_ADDRESS")
        #expect(setting.option == "--max-connections-per-address")
        let hidden = try #require(Setting.all.first { $0.name == "idleTimeout" })
        #expect(hidden.option == nil)
    }

    @Test("Settings keep their defaults where they are not set or empty")
    func haveDefaults() throws {
        for values in [[:], ["port": "", "maxConnections": "", "idleTimeout": "", "rateLimit": "", "countDays": ""]] {
            let configuration = try Self.configuration(values)
            #expect(configuration.publicAddress == ListenAddress(host: "0.0.0.0", port: 8_080))
            #expect(configuration.limits == ConnectionLimits() && configuration.rateLimit == nil)
            #expect(configuration.countInterval == .seconds(10) && configuration.daysKept == 400)
        }
    }

    @Test("Settings take each the place that it is for")
    func areStored() throws {
        let configuration = try Self.configuration([
            "host": "::1", "port": "0", "managementHost": "10.0.0.1", "managementPort": "1",
            "managementNames": "a, b_2.c",
            "countInterval": "0", "countKeys": "2", "countDays": "3", "drainSeconds": "4.5", "maxConnections": "5",
            "maxConnectionsPerAddress": "0", "idleTimeout": "7", "rateLimit": "9:10", "trustedProxies": "10.0.0.0/8",
            "logFormat": "json", "logLevel": "debug",
        ])
        #expect(configuration.publicAddress == ListenAddress(host: "::1", port: 0))
        #expect(configuration.managementAddress == ListenAddress(host: "10.0.0.1", port: 1))
        #expect(configuration.managementNames == ["a", "b_2.c"])
        #expect(configuration.countInterval == nil && configuration.maximumKinds == 2 && configuration.daysKept == 3)
        #expect(configuration.logFormat == .json)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.drainDuration == .milliseconds(4_500))
        var limits = ConnectionLimits()
        (limits.connections, limits.connectionsPerAddress, limits.idleTimeout) = (5, 0, .seconds(7))
        #expect(configuration.limits == limits)
        #expect(configuration.rateLimit == (try RateLimit(parsing: "9:10")))
        #expect(configuration.trustedProxies == (try TrustedProxies(parsing: "10.0.0.0/8")))
    }

    @Test(
        "Settings are refused with their names, their value and what they may be",
        arguments: [
            ("managementHost", "[::1]", "write ::1, without brackets"),
            ("countInterval", "0.5", "it must be a whole number from 0 to 3600"),
            ("countInterval", "3601", "it must be a whole number from 0 to 3600"),
            ("countKeys", "-1", "it must be a whole number from 0 to 10000000"),
            ("countDays", "0", "it must be a whole number from 1 to 36500"),
            ("maxConnections", "0", "it must be a whole number from 1 to 1000000"),
            ("maxConnectionsPerAddress", "-1", "it must be a whole number from 0 to 1000000"),
            ("idleTimeout", "soon", "it must be a number of seconds from 0.1 to 3600"),
            ("idleTimeout", "nan", "it must be a number of seconds from 0.1 to 3600"),
            ("idleTimeout", "inf", "it must be a number of seconds from 0.1 to 3600"),
            ("drainSeconds", "3601", "it must be a number of seconds from 0 to 3600"),
            ("logFormat", "xml", "it must be one of text, json"),
            ("logLevel", "loud", "it must be one of trace, debug, info, notice, warning, error, critical"),
        ]
            + ["a,", "a b", "a:1", "http://gate", "*"].map {
                ("managementNames", $0, "it must be host names without ports, separated by commas")
            }
    )
    func areRefused(name: String, value: String, reason: String) throws {
        let setting = try #require(Setting.all.first { $0.name == name })
        let names = setting.option.map { "\($0) (\(setting.variable))" } ?? setting.variable
        let error = #expect(throws: ConfigurationError.self) { try Self.configuration([name: value]) }
        #expect(error?.description == "\(names) is \"\(value)\"; \(reason)")
    }
}
