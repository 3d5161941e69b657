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
}
