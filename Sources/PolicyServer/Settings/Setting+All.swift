import CheckListener
import Logging

extension Setting {
    /// Every setting.
    package static let all: [Setting] = [
        .host("host", \.publicAddress.host, option: "address", "The address that apps connect to."),
        .number(
            "port", \.publicAddress.port, in: 0...65_535, option: "port", "The port that apps connect to; 0 picks one."
        ),
        .host(
            "managementHost", \.managementAddress.host, option: "address",
            "The address of the management listener. Only its pages can ask for a password."
        ),
        .number("managementPort", \.managementAddress.port, in: 0...65_535, option: "port", "Its port; 0 picks one."),
        Setting(
            "managementNames", \.managementNames, option: "names",
            "Host names that it accepts, besides IP addresses and localhost, separated by commas.", default: "none",
            parse: hostNames
        ),
        Setting(
            "pagesPasswordFile", \.pagesPassword, option: "file",
            "A file with the password of the pages for people, in its first line.",
            note: "Without one they are served only on a loopback address.", default: nil
        ) { try PageAccess.readPassword($0) },
        .number(
            "countInterval", \.countInterval, in: 0...3_600, option: "seconds",
            "Seconds between two writes of the counts of checks; 0 counts none, and no fuse blows.",
            default: ServerConfiguration().countInterval.map { String($0.components.seconds) } ?? "0"
        ) { $0 == 0 ? nil : .seconds($0) },
        .number(
            "countKeys", \.maximumKinds, in: 0...10_000_000, option: "number",
            "How many kinds of clients are counted separately in an hour; the rest is counted together.",
            note:
                "Kinds of the last days are always counted separately. Of the rest, the version is counted if it is "
                + "that of a release."
        ),
        .number("countDays", \.daysKept, in: 1...36_500, option: "days", "How many days counts are kept."),
        Setting(
            "tlsCertificate", \.tls.certificate, option: "file",
            "Serve apps over TLS with this certificate and its chain, in PEM; read again on SIGHUP.", default: nil
        ) { $0 },
        Setting("tlsKey", \.tls.key, option: "file", "Its private key, in PEM.", default: nil) { $0 },
        Setting(
            "lockoutKey", \.lockoutKey, option: "file",
            "Sign lockouts with this private key, in PEM; read again on SIGHUP.",
            note: "See [Signed lockouts](Operations.md#signed-lockouts) in Operations.", default: nil
        ) { LockoutKeyFile(path: $0) },
        Setting(
            "brakeFile", \.brakeFile, option: "file", "While this file exists, lockouts are sent as plain messages.",
            note: "See [The brake](Operations.md#the-brake) in Operations.", default: "brake in the state folder"
        ) { $0 },
        .flag(
            "releaseTokens", \.takesReleases, "Record the releases that pipelines send with a token, at /v1/releases.",
            note: "See [Releases](HTTP.md#releases) in HTTP."
        ),
        .seconds(
            "drainSeconds", \.drainDuration, in: 0...3_600, option: "seconds",
            "How long /ready answers 503 before a shutdown begins, so that load balancers notice."
        ),
        .choice("logFormat", \.logFormat, option: "format", "How log messages are written: text or json."),
        .choice(
            "logLevel", \.logLevel, option: "level",
            "The least severe messages that are logged: trace, debug, info, notice, warning, error or critical."
        ),
        .number(
            "maxConnections", \.limits.connections, in: 1...1_000_000, option: "count",
            "How many connections apps may have.",
            note:
                "Beyond it, a new connection closes the one that has been idle longest; where none is idle, the new one is closed."
        ),
        .number(
            "maxConnectionsPerAddress", \.limits.connectionsPerAddress, in: 0...1_000_000, option: "count",
            "How many of them may be from one address; 0 is no limit.",
            note: "Beyond it, new connections of the address are closed; trusted proxies are exempt.",
            default: "an eighth of them, at least 64"
        ) { $0 },
        .seconds(
            "idleTimeout", \.limits.idleTimeout, in: 0.1...3_600,
            "How long a connection may be silent between two requests.", note: "Beyond it, the connection ends."
        ),
        Setting(
            "rateLimit", \.rateLimit, option: "per-second[:burst]",
            "How many requests an address may send in a second, and how many at once.",
            note: "Beyond it: 429 with `Retry-After`; the connection stays open until the 16th in a row.",
            default: "no limit", range: "0.001 to 1000000, burst 1 to 1000000"
        ) { try RateLimit(parsing: $0) },
        Setting(
            "trustedProxies", \.trustedProxies, option: "ranges",
            "Proxies whose X-Forwarded-For names the client, such as 10.0.0.0/8,::1.", default: "none"
        ) { try TrustedProxies(parsing: $0) },
        Setting(
            "allowedOrigins", \.allowedOrigins, option: "origins",
            "Other origins whose pages may read answers, such as https://app.example.com,capacitor://localhost; * is every one.",
            note: "See [Other origins](HTTP.md#other-origins) in HTTP.", default: "none"
        ) { try AllowedOrigins(parsing: $0) },
    ]

    /// Names between commas, each with blanks before it.
    @Sendable private static func hostNames(_ text: String) throws -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.drop(while: \.isWhitespace) }
        let areHostNames = names.allSatisfy { name in
            !name.isEmpty
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_") }
        }
        guard areHostNames else {
            throw ConfigurationError(" is \"\(text)\"; it must be host names without ports, separated by commas")
        }
        return names.map(String.init)
    }
}
