import CheckListener
import Logging
import Synchronization

/// Reads the key that signs lockouts at the start and again on SIGHUP.
///
/// A key that cannot be read keeps no server from starting: checks are answered, and apps that pinned a key show
/// lockouts as plain messages.
final class ReloadedLockoutKey: Sendable {
    private let file: LockoutKeyFile
    private let logger: Logger
    /// The key of the next signature.
    let key: CurrentLockoutKey
    private let readFault = Mutex<String?>(nil)

    init(_ file: LockoutKeyFile, logger: Logger) {
        self.file = file
        self.logger = logger
        key = CurrentLockoutKey(nil)
        read()
    }

    /// The name of the key in use; nil: there is none.
    var keyID: String? { key.value?.id }

    /// Why the file could not be read the last time, and what follows; nil: it could.
    var fault: String? {
        readFault.withLock { $0 }.map { reason in
            let state = keyID.map { "the key before it, \($0), still signs" } ?? "lockouts are not signed"
            return "\(reason). Until it can, \(state). Put the key there, and send the server SIGHUP."
        }
    }

    /// Reads the file again; when it cannot be used, the key before it stays in use and the log says why.
    func reload() {
        if read() { logger.notice("The lockout key was read again", metadata: ["key.id": "\(keyID ?? "")"]) }
    }

    @discardableResult
    private func read() -> Bool {
        do throws(ConfigurationError) {
            key.replace(with: try file.load())
            readFault.withLock { $0 = nil }
            return true
        } catch {
            readFault.withLock { $0 = "\(error)" }
            logger.error("The lockout key cannot be read", metadata: ["error": "\(error)"])
            return false
        }
    }
}
