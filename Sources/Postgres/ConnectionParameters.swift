import CLibpq

/// The keywords and values that a configuration becomes for `PQconnectdbParams`.
///
/// Those before `dbname` are defaults that the connection string may override; those after it win over it.
struct ConnectionParameters {
    private var keywords: [String] = []
    private var values: [String] = []

    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        try Self.check(configuration)
        append("connect_timeout", String(max(1, configuration.connectTimeout.components.seconds)))
        append("fallback_application_name", configuration.applicationName)
        append("keepalives_idle", "30")
        append("keepalives_interval", "10")
        append("keepalives_count", "3")
        append("tcp_user_timeout", "60000")
        append("dbname", configuration.connectionString)
        for (keyword, value) in configuration.overrides.sorted(by: { $0.key < $1.key }) { append(keyword, value) }
        append("client_encoding", "UTF8")
    }

    private mutating func append(_ keyword: String, _ value: String) {
        keywords.append(keyword)
        values.append(value)
    }

    /// Refuses what libpq could not read, or would read as something else, without quoting any of it: its own
    /// messages show pieces of a password whose special characters were not percent-encoded.
    private static func check(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let string = configuration.connectionString
        let texts = [string, configuration.applicationName] + configuration.overrides.flatMap { [$0.key, $0.value] }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw unreadable("it holds a NUL character") }
        let isAddress = string.hasPrefix("postgresql://") || string.hasPrefix("postgres://")
        guard isAddress || string.contains("=") else { return }

        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(string, &message) else {
            defer { PQfreemem(message) }
            // Of libpq's message only the name of an option, which is no password.
            let option = message.flatMap {
                String(cString: $0).firstMatch(of: #/^invalid connection option "([a-z_]{1,32})"/#)
            }
            throw unreadable(option.map { "there is no option \"\($0.1)\"" })
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val.map({ String(cString: $0) }) {
                switch String(cString: keyword) {
                case "host", "dbname":
                    if isAddress, !value.hasPrefix("/"), value.contains("@") {
                        throw unreadable("there is more than one '@' in it")
                    }
                case "port":
                    let ports = value.split(separator: ",", omittingEmptySubsequences: false)
                    guard ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
                        throw unreadable("what stands in the place of the port is no number from 1 to 65535")
                    }
                default: break
                }
            }
            option += 1
        }
    }

    private static func unreadable(_ reason: String?) -> PostgresError {
        PostgresError(
            .connectionFailed,
            "the connection string cannot be read" + (reason.map { ": \($0)" } ?? ""),
            hint: "Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters percent-encoded "
                + "(@ is %40, / is %2F, : is %3A, % is %25), or as keyword=value pairs."
        )
    }

    /// Lends null-terminated arrays of C strings, valid inside `body` alone.
    func withPointers<R>(
        _ body: (_ keywords: [UnsafePointer<CChar>?], _ values: [UnsafePointer<CChar>?]) -> R
    ) -> R {
        var arena: [CChar] = []
        func store(_ texts: [String]) -> [Int] {
            texts.map { text in
                defer { arena.append(contentsOf: text.utf8CString) }
                return arena.count
            }
        }
        let keywordOffsets = store(keywords)
        let valueOffsets = store(values)
        return arena.withUnsafeBufferPointer { buffer in
            let base = buffer.baseAddress!
            return body(keywordOffsets.map { base + $0 } + [nil], valueOffsets.map { base + $0 } + [nil])
        }
    }
}
