import CLibpq

extension PostgresConfiguration {
    /// The connection string as environment variables for programs that use libpq, such as psql.
    ///
    /// So a password is in no argument list, which every user of the machine can read. Settings that libpq reads from
    /// no environment variable are left out.
    ///
    /// - Throws: `.connectionFailed` if libpq cannot read the connection string.
    public func environment() throws(PostgresError) -> [String: String] {
        guard let settings else { throw PostgresError(.connectionFailed, "the connection string cannot be read") }
        return settings.reduce(into: [:]) { environment, setting in
            guard let variable = setting.variable else { return }
            environment[variable] = overrides[setting.keyword] ?? setting.value
        }
    }

    /// The service that the connection string names, for which libpq looks up the rest when it connects.
    public var service: String? { settings?.first { $0.keyword == "service" }?.value }

    /// The connection string that names a service.
    public static func address(ofService name: String) -> String { "service=\(quoted(name))" }

    /// The connection string without any password; itself where it has none, nil where libpq cannot read it.
    public var addressWithoutPassword: String? {
        guard let settings else { return nil }
        let given = settings.compactMap { setting in setting.value.map { (setting.keyword, $0) } }
        let shown = given.filter { !["password", "sslpassword"].contains($0.0) }
        guard shown.count < given.count else { return connectionString }
        return shown.map { "\($0)=\(Self.quoted($1))" }.joined(separator: " ")
    }

    private static func quoted(_ value: String) -> String {
        guard value.isEmpty || value.contains(where: { " '\\".contains($0) }) else { return value }
        return "'\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }

    /// All settings of libpq, with the values that the connection string gives them.
    private var settings: [(keyword: String, variable: String?, value: String?)]? {
        guard let options = PQconninfoParse(connectionString, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var settings: [(String, String?, String?)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            let (variable, value) = (option.pointee.envvar, option.pointee.val)
            settings.append(
                (String(cString: keyword), variable.map { String(cString: $0) }, value.map { String(cString: $0) }))
            option += 1
        }
        return settings
    }
}
