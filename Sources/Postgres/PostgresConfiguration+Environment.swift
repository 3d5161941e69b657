// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

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

    /// The connection string without any password; nil where libpq cannot read it.
    public var addressWithoutPassword: String? {
        guard let options = PQconninfoParse(connectionString, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var settings: [String] = []
        var hasPassword = false
        var option = options
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            if keyword == "password" || keyword == "sslpassword" {
                hasPassword = hasPassword || option.pointee.val != nil
            } else if let value = option.pointee.val.map({ String(cString: $0) }) {
                let quoted = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                settings.append(
                    value.isEmpty || value.contains { " '\\".contains($0) }
                        ? "\(keyword)='\(quoted)'" : "\(keyword)=\(value)"
                )
            }
            option += 1
        }
        return hasPassword ? settings.joined(separator: " ") : connectionString
    }
}
