// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc

extension PrivatePostgresError {
    /// A folder or file that cannot be used, with the system's reason.
    static func folder(_ fault: String, _ number: Int32, hint: String? = nil) -> PrivatePostgresError {
        PrivatePostgresError(
            .folderUnusable,
            "\(fault): \(String(cString: strerror(number)))",
            hint: hint
                ?? "Choose another state folder with --state-dir, or set DATABASE_URL to use a database elsewhere."
        )
    }
}
