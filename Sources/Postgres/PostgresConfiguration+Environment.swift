import CLibpq

extension PostgresConfiguration {
    /// The connection string as environment variables for programs that use libpq, such as psql.
    ///
    /// So a password is in no argument list, which every user of the machine can read. Settings that libpq reads from
    /// no environment variable are left out.
    ///
    /// - Throws: `.connectionFailed` if libpq cannot read the connection string.
    public func environment() throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connectionString, &message) else {
            PQfreemem(message)
            throw PostgresError(.connectionFailed, "the connection string cannot be read")
        }
        defer { PQconninfoFree(options) }
        var environment: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            let value = overrides[String(cString: keyword)] ?? option.pointee.val.map { String(cString: $0) }
            if let value, let variable = option.pointee.envvar {
                environment[String(cString: variable)] = value
            }
            option += 1
        }
        return environment
    }

    /// The connection string without any password; itself where it has none, nil where libpq cannot read it.
    public var addressWithoutPassword: String? {
        guard let options = PQconninfoParse(connectionString, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var settings: [String] = []
        var hasHidden = false
        var option = options
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            let value = option.pointee.val.map { String(cString: $0) }
            if ["password", "sslpassword"].contains(keyword) {
                hasHidden = hasHidden || value != nil
            } else if let value {
                let quoted = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                settings.append(
                    value.isEmpty || value.contains { " '\\".contains($0) }
                        ? "\(keyword)='\(quoted)'" : "\(keyword)=\(value)"
                )
            }
            option += 1
        }
        return hasHidden ? settings.joined(separator: " ") : connectionString
    }
}
