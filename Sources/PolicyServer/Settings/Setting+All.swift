import CheckListener
import Logging

extension Setting {
    /// Every setting.
    package static let all = ofServer + ofClients

    /// Where the server listens, how it ends, what it counts and what it logs.
    package static let ofServer: [Setting] = [
        .host("host", \.publicAddress.host, option: "address", "The address that apps connect to."),
        .number(
            "port", \.publicAddress.port, in: 0...65_535, option: "port", "The port that apps connect to; 0 picks one."
        ),
        .host(
            "managementHost", \.managementAddress.host, option: "address",
            "The address of the management listener, of which only the pages can ask for a password."
        ),
        .number("managementPort", \.managementAddress.port, in: 0...65_535, option: "port", "Its port; 0 picks one."),
        Setting(
            "managementNames", option: "names",
            "Host names that it accepts, besides IP addresses and localhost, separated by commas.", default: "none"
        ) { text, configuration throws(ConfigurationError) in
            guard let names = hostNames(text) else {
                throw ConfigurationError(" is \"\(text)\"; it must be host names without ports, separated by commas")
            }
            configuration.managementNames = names
        },
        Setting(
            "pagesPasswordFile", option: "file", "A file with the password of the pages for people, in its first line.",
            note: "Without one they are served on a loopback address alone.", default: nil
        ) { text, configuration throws(ConfigurationError) in
            configuration.pagesPassword = try PageAccess.readPassword(text)
        },
        .number(
            "countInterval", in: 0...3_600, option: "seconds",
            "Seconds between two writes of the counts of checks; 0 counts none, and no fuse blows.",
            default: ServerConfiguration().counting.interval.map { String($0.components.seconds) } ?? "0"
        ) { $1.counting.interval = $0 == 0 ? nil : .seconds($0) },
        .number(
            "countKeys",
            \.counting.maximumKinds,
            in: 0...10_000_000,
            option: "number",
            "How many kinds of clients are counted separately in an hour; the rest is counted together.",
            note:
                "Kinds of the last days are always counted separately. Of the rest, the version is counted where it is "
                + "that of a release."
        ),
        .number("countDays", \.counting.daysKept, in: 1...36_500, option: "days", "How many days counts are kept."),
        Setting(
            "tlsCertificate", option: "file",
            "Serve apps over TLS with this certificate and its chain, in PEM; read again on SIGHUP.", default: nil
        ) { text, configuration throws(ConfigurationError) in
            configuration.publicListener.tls = TLSFiles(
                certificate: text,
                key: configuration.publicListener.tls?.key ?? ""
            )
        },
        Setting("tlsKey", option: "file", "Its private key, in PEM.", default: nil) {
            text,
            configuration throws(ConfigurationError) in
            configuration.publicListener.tls = TLSFiles(
                certificate: configuration.publicListener.tls?.certificate ?? "",
                key: text
            )
        },
        Setting(
            "lockoutKey", option: "file", "Sign lockouts with this private key, in PEM; read again on SIGHUP.",
            note: "[Signed lockouts](Operations.md#signed-lockouts).", default: nil
        ) { $1.lockoutKey = LockoutKeyFile(path: $0) },
        Setting(
            "brakeFile", option: "file", "While this file is there, lockouts are sent as plain messages.",
            note: "[The brake](Operations.md#the-brake).", default: "brake in the state folder"
        ) { $1.brakeFile = $0 },
        .seconds(
            "drainSeconds", \.drainDuration, in: 0...3_600, option: "seconds",
            "How long /ready answers 503 before a shutdown begins, so that load balancers notice."
        ),
        .choice("logFormat", \.logFormat, option: "format", "How log messages are written: text or json."),
        .choice(
            "logLevel", \.logLevel, option: "level",
            "The least severe messages that are logged: trace, debug, info, notice, warning, error or critical."
        ),
    ]

    /// The limits of the public listener.
    package static let ofClients: [Setting] = [
        .number(
            "maxConnections",
            \.publicListener.limits.connections,
            in: 1...1_000_000,
            option: "count",
            "How many connections apps may have.",
            note:
                "Beyond it, a new connection closes the one that has been idle longest, of addresses with more than their share first; where none is idle, the new one is closed."
        ),
        .number(
            "maxConnectionsPerAddress", in: 0...1_000_000, option: "count",
            "How many of them may be from one address; 0 is no limit.",
            note: "Beyond it, new connections of the address are closed; trusted proxies are exempt.",
            default: "an eighth of them, at least 64"
        ) { $1.publicListener.limits.connectionsPerAddress = $0 },
        .number(
            "maxRequestsPerConnection", \.publicListener.limits.requestsPerConnection, in: 1...1_000_000_000,
            "How many requests of a connection are answered.", note: "The last answer says `Connection: close`."
        ),
        .number(
            "maxRequestLineBytes", \.publicListener.limits.requestLineBytes, in: 256...65_536,
            "The most bytes of a request line.", note: "Beyond it: 414, and the connection ends."
        ),
        .number(
            "maxHeaderBytes", \.publicListener.limits.headerBytes, in: 1_024...1_048_576,
            "The most bytes of target, names and values of header fields together.",
            note: "Beyond it: 431, and the connection ends."
        ),
        .number(
            "maxHeaderFields", \.publicListener.limits.headerFields, in: 10...1_000, "The most header fields.",
            note: "Beyond it: 431, and the connection ends."
        ),
        .seconds(
            "headerTimeout", \.publicListener.limits.headerTimeout, in: 0.1...3_600,
            "How long a TLS handshake and the head of a request may take.",
            note: "Beyond it: 408 if any of the head came; the connection ends."
        ),
        .seconds(
            "bodyTimeout", \.publicListener.limits.bodyTimeout, in: 0.1...3_600, "How long a body may take.",
            note: "Beyond it: 408, and the connection ends."
        ),
        .seconds(
            "idleTimeout", \.publicListener.limits.idleTimeout, in: 0.1...3_600,
            "How long a connection may be silent between two requests.", note: "Beyond it, the connection ends."
        ),
        .number(
            "maxBufferedBytes", \.publicListener.limits.bufferedBytes, in: 4_096...16_777_216,
            "How many bytes of answers may wait for a client to read them.",
            note: "Beyond it, no more requests are read."
        ),
        .seconds(
            "unreadTimeout", \.publicListener.limits.unreadTimeout, in: 0.1...3_600,
            "How long more than that may wait to be read.", note: "Beyond it, the connection ends."
        ),
        Setting(
            "rateLimit", option: "per-second[:burst]",
            "How many requests an address may send in a second, and how many at once.",
            note: "Beyond it: 429 with `Retry-After`; the connection goes on, and ends with the 16th in a row.",
            default: "no limit", range: "0.001 to 1000000, burst 1 to 1000000"
        ) { text, configuration throws(ConfigurationError) in
            do throws(LimitSyntaxError) {
                configuration.publicListener.rateLimit = try RateLimit(parsing: text)
            } catch {
                throw ConfigurationError(": \(error)")
            }
        },
        Setting(
            "trustedProxies", option: "ranges",
            "Proxies whose X-Forwarded-For names the client, such as 10.0.0.0/8,::1.", default: "none"
        ) { text, configuration throws(ConfigurationError) in
            do throws(LimitSyntaxError) {
                configuration.publicListener.trustedProxies = try TrustedProxies(parsing: text)
            } catch {
                throw ConfigurationError(": \(error)")
            }
        },
    ]

    /// Names between commas, each with blanks before it; nil if one cannot be a host name.
    private static func hostNames(_ text: String) -> [String]? {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.drop(while: \.isWhitespace) }
        let areHostNames = names.allSatisfy { name in
            !name.isEmpty
                && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_") }
        }
        return areHostNames ? names.map(String.init) : nil
    }
}
