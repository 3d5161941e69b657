import CheckListener
import Logging
import Synchronization
import UpdatePolicy

/// A value that is read from files at the start and again on SIGHUP. While it cannot be read, the one before stays in use.
private final class Reloaded<Value: Sendable>: Sendable {
    let current: Current<Value>
    private let state = Mutex<(fault: String?, failures: Int)>((nil, 0))

    init(_ first: Value) {
        current = Current(first)
    }

    /// Why the files could not be read the last time; nil: they could.
    var fault: String? { state.withLock { $0.fault } }

    var failures: Int { state.withLock { $0.failures } }

    func read(_ load: () throws(ConfigurationError) -> Value) throws(ConfigurationError) {
        do throws(ConfigurationError) {
            current.replace(with: try load())
            state.withLock { $0.fault = nil }
        } catch {
            let fault = "\(error)"
            state.withLock { $0 = (fault, $0.failures + 1) }
            throw error
        }
    }
}

/// The TLS certificate of the public listener.
struct ReloadedCertificate: Sendable {
    private let files: TLSFiles
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let reloaded: Reloaded<TLSCertificate>

    /// Reads the files.
    ///
    /// - Throws: ``ConfigurationError``
    init(
        _ files: TLSFiles,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) throws(ConfigurationError) {
        self.files = files
        self.clock = clock
        self.logger = logger
        reloaded = Reloaded(try files.load())
        warn()
    }

    /// The certificate of the next connection.
    var certificate: CurrentTLSCertificate { reloaded.current }

    /// Until when the certificate in use is valid, in seconds since 1970.
    var certificateExpiry: Int64 { certificate.value.expiry }

    /// How often the files could not be read again.
    var failedReloadCount: Int { reloaded.failures }

    /// Why clients may refuse the certificate now, and what to do; nil: nothing is known.
    var fault: String? {
        let warnings = certificate.value.warnings(at: clock()).joined(separator: " ")
        let reload = reloaded.fault
        guard reload != nil || !warnings.isEmpty else { return nil }
        let state =
            reload.map { reason in
                let end = NumberText.minute(Timestamp(secondsSince1970: certificateExpiry))
                return "the new one could not be read, and the one in use ends at \(end): \(reason). \(warnings)"
            } ?? warnings
        return "the certificate in \(files.certificate): \(state) Put a new one there, and send the server SIGHUP."
    }

    /// Reads the files again; the log says why they cannot be used.
    func reload() {
        do throws(ConfigurationError) {
            try reloaded.read(files.load)
            warn()
            logger.notice("The TLS certificate was read again", metadata: ["file": "\(files.certificate)"])
        } catch {
            logger.error("The TLS certificate cannot be read again", metadata: ["error": "\(error)"])
        }
    }

    private func warn() {
        for warning in certificate.value.warnings(at: clock()) {
            logger.warning(
                "Clients may refuse the TLS certificate",
                metadata: ["file": "\(files.certificate)", "reason": "\(warning)"]
            )
        }
    }
}

/// The key that signs lockouts.
///
/// A key that cannot be read keeps no server from starting: checks are answered, and apps that pinned a key show
/// lockouts as plain messages.
struct ReloadedLockoutKey: Sendable {
    private let file: LockoutKeyFile
    private let logger: Logger
    private let reloaded = Reloaded<LockoutKey?>(nil)

    init(_ file: LockoutKeyFile, logger: Logger) {
        self.file = file
        self.logger = logger
        read()
    }

    /// The key of the next signature.
    var key: CurrentLockoutKey { reloaded.current }

    /// The name of the key in use; nil: there is none.
    var keyID: String? { key.value?.id }

    /// Why the file could not be read the last time, and what follows; nil: it could.
    var fault: String? {
        reloaded.fault.map { reason in
            let state = keyID.map { "the key before it, \($0), still signs" } ?? "lockouts are not signed"
            return "\(reason). Until it can, \(state). Put the key there, and send the server SIGHUP."
        }
    }

    /// Reads the file again; the log says why it cannot be used.
    func reload() {
        if read() { logger.notice("The lockout key was read again", metadata: ["key.id": "\(keyID ?? "")"]) }
    }

    @discardableResult
    private func read() -> Bool {
        do throws(ConfigurationError) {
            try reloaded.read { () throws(ConfigurationError) in try file.load() }
            return true
        } catch {
            logger.error("The lockout key cannot be read", metadata: ["error": "\(error)"])
            return false
        }
    }
}
