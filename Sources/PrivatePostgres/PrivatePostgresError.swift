import Glibc

/// Why the private PostgreSQL cannot be used, and what to do about it.
package struct PrivatePostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// The programs of PostgreSQL, or `flock`, are not installed, or not in the version that is needed.
        case programsMissing
        /// The state folder cannot be used: not writable, not owned, not reachable.
        case folderUnusable
        /// PostgreSQL could not be initialised or started.
        case startFailed
        /// Something took longer than it ever should.
        case timeout
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of failure.
    package var code: Code
    /// The fault in one or more lines, with its path.
    package var message: String
    /// What to do about it.
    package var hint: String?

    init(_ code: Code, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The fault, and what to do about it on a line of its own.
    package var description: String { message + (hint.map { "\n\($0)" } ?? "") }
}

extension PrivatePostgresError {
    /// PostgreSQL could not be prepared: the lines of its programs that tell why, or all where none seems to.
    static func preparation(in folder: String, output: String) -> PrivatePostgresError {
        let lines = output.split(separator: "\n")
        let reasons = lines.filter { $0.contains("FATAL") || $0.contains("PANIC") || $0.contains("error: ") }
        let isFull = output.contains("No space left on device")
        return PrivatePostgresError(
            .startFailed,
            "PostgreSQL could not be prepared in \(folder):\n"
                + (reasons.isEmpty ? lines : reasons).joined(separator: "\n"),
            hint: isFull
                ? "Free 100 MB there, or choose another state folder with --state-dir, or set DATABASE_URL to use a database "
                    + "elsewhere." : nil
        )
    }

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
