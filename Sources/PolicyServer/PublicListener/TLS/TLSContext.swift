// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import Logging
import NIOSSL
public import ServiceLifecycle
import Synchronization
import UnixSignals

/// The TLS of connections to come, read anew on SIGHUP; those that are open keep what they began with.
public final class TLSContext: Service {
    private let files: TLSFiles
    private let logger: Logger
    private let context: Mutex<NIOSSLContext>

    /// Reads the files.
    ///
    /// - Throws: ``ConfigurationError``
    public init(_ files: TLSFiles, logger: Logger) throws(ConfigurationError) {
        self.files = files
        self.logger = logger
        context = Mutex(try files.makeContext())
    }

    /// What the next connection uses.
    var current: NIOSSLContext {
        context.withLock { $0 }
    }

    /// Reads the files again; when they cannot be used, those before stay in use and the log says why.
    func reload() {
        do throws(ConfigurationError) {
            let new = try files.makeContext()
            context.withLock { $0 = new }
            logger.notice("The TLS certificate was read again", metadata: ["file": "\(files.certificate)"])
        } catch {
            logger.error("The TLS certificate cannot be read again", metadata: ["error": "\(error)"])
        }
    }

    /// Reads the files again at each SIGHUP, until graceful shutdown.
    public func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            reload()
        }
    }
}
