import CheckListener
import SystemPackage

/// The file of a key that signs lockouts: PKCS #8 in PEM, without a passphrase.
package struct LockoutKeyFile: Sendable {
    package let path: String

    private static let setting = "--lockout-key (VERSIONGATE_LOCKOUT_KEY)"

    package init(path: String) {
        self.path = path
    }

    /// The half of a key that may be told: its name in signatures, and a SubjectPublicKeyInfo in base64, as apps pin it.
    package typealias PublicHalf = (id: String, key: String)

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

    package func publicHalf() throws(ConfigurationError) -> PublicHalf {
        let key = try load()
        return (key.id, key.publicKey)
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
        return (key.id, key.publicKey)
    }
}
