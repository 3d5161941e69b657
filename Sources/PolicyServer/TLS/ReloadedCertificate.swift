import CheckListener
import Logging
import Synchronization
import UpdatePolicy

/// Reads the TLS certificate at the start and again on SIGHUP.
final class ReloadedCertificate: Sendable {
    private let files: TLSFiles
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    /// The certificate of the next connection.
    let certificate: CurrentTLSCertificate
    private let failedReloads = Atomic(0)
    /// Why the files could not be read again the last time; nil: they could.
    private let reloadFault = Mutex<String?>(nil)

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
        let first = try files.load()
        let warnings = first.warnings(at: clock())
        certificate = CurrentTLSCertificate(first)
        warn(warnings)
    }

    /// Until when the certificate in use is valid, in seconds since 1970.
    var certificateExpiry: Int64 {
        certificate.value.expiry
    }

    /// Why clients may refuse the certificate now, and what to do; nil: nothing is known.
    var fault: String? {
        let warnings = certificate.value.warnings(at: clock()).joined(separator: " ")
        let reload = reloadFault.withLock { $0 }
        guard reload != nil || !warnings.isEmpty else { return nil }
        let state =
            reload.map { reason in
                let end = NumberText.minute(Timestamp(secondsSince1970: certificateExpiry))
                return "the new one could not be read, and the one in use ends at \(end): \(reason). \(warnings)"
            } ?? warnings
        return "the certificate in \(files.certificate): \(state) Put a new one there, and send the server SIGHUP."
    }

    /// How often the files could not be read again.
    var failedReloadCount: Int {
        failedReloads.load(ordering: .relaxed)
    }

    /// Reads the files again; when they cannot be used, those before stay in use and the log says why.
    func reload() {
        do throws(ConfigurationError) {
            let new = try files.load()
            warn(new.warnings(at: clock()))
            certificate.replace(with: new)
            reloadFault.withLock { $0 = nil }
            logger.notice("The TLS certificate was read again", metadata: ["file": "\(files.certificate)"])
        } catch {
            failedReloads.wrappingAdd(1, ordering: .relaxed)
            reloadFault.withLock { $0 = "\(error)" }
            logger.error("The TLS certificate cannot be read again", metadata: ["error": "\(error)"])
        }
    }

    private func warn(_ warnings: [String]) {
        for warning in warnings {
            logger.warning(
                "Clients may refuse the TLS certificate",
                metadata: ["file": "\(files.certificate)", "reason": "\(warning)"]
            )
        }
    }
}
