import CheckListener
import SystemPackage

/// The file of a key that signs lockouts: PKCS #8 in PEM, without a passphrase.
package struct LockoutKeyFile: Sendable {
    /// Where it is.
    package let path: String

    private static let setting = "--lockout-key (VERSIONGATE_LOCKOUT_KEY)"

    /// The file at a path.
    package init(path: String) {
        self.path = path
    }

    /// The half of a key that may be told.
    package struct PublicHalf: Sendable {
        /// The name of the key in signatures.
        package let id: String
        /// A SubjectPublicKeyInfo in base64, as apps pin it.
        package let key: String

        init(_ key: LockoutKey) {
            (id, self.key) = (key.id, key.publicKey)
        }
    }

    /// Reads the key.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and what is wrong with it.
    func load() throws(ConfigurationError) -> LockoutKey {
        guard let key = LockoutKey(pem: try ConfigurationError.reading(path, Self.setting)) else {
            throw ConfigurationError(
                "\(Self.setting): \(path) does not hold a private key of P-256 in PEM without a passphrase; "
                    + "`versiongate lockout-key new FILE` makes one"
            )
        }
        return key
    }

    /// The public half of the key.
    ///
    /// - Throws: ``ConfigurationError``.
    package func publicHalf() throws(ConfigurationError) -> PublicHalf {
        PublicHalf(try load())
    }

    /// Makes a key in a file that only its owner can read.
    ///
    /// - Throws: ``ConfigurationError``; a file that is there stays as it is.
    package func make() throws(ConfigurationError) -> PublicHalf {
        guard let key = LockoutKey.random(), let pem = key.pem else {
            throw ConfigurationError("no key could be made: the system gives no random numbers")
        }
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            )
            try file.closeAfter { _ = try file.writeAll(pem) }
        } catch {
            if error as? Errno == .fileExists {
                throw ConfigurationError(
                    "\(path) is already there, and apps may have pinned the key in it; name another file"
                )
            }
            throw ConfigurationError(
                "\(path) cannot be written: \(error); name a file in a folder that you may write to"
            )
        }
        return PublicHalf(key)
    }
}
