import Glibc
import Synchronization

/// A lock of the kind `flock(2)` on a file, which the kernel releases when the process ends in any way.
///
/// The file's descriptor is not inherited by programs that this process starts.
final class FileLock: Sendable {
    enum Kind {
        case shared
        case exclusive
    }

    private let descriptor: Mutex<Int32?>

    /// Opens the file, and creates it for `owner` if it is missing. A symbolic link is refused.
    init(_ path: String, owner: SystemUser) throws(PrivatePostgresError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .folder("the lock file \(path) cannot be opened", errno) }
        if geteuid() == 0, fchown(descriptor, owner.id, owner.group) != 0 {
            let fault = errno
            _ = Glibc.close(descriptor)
            throw .folder("the lock file \(path) cannot be given to \(owner.name)", fault)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { close() }

    /// Releases the lock and closes the file.
    ///
    /// The lock is released explicitly, because a child process that another thread is spawning has a copy of the
    /// descriptor until it runs its program, and closing would leave the lock to that copy.
    func close() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            _ = flock(open, LOCK_UN)
            _ = Glibc.close(open)
            descriptor = nil
        }
    }

    /// Leaves the lock to the program that replaces this process, until that program ends.
    func keepOverExec() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = fcntl(descriptor, F_SETFD, 0) }
        }
    }

    /// Whether `close()` was not called yet.
    var isOpen: Bool { descriptor.withLock { $0 != nil } }

    /// Takes the lock if nobody else's excludes it.
    func tryLock(_ kind: Kind) -> Bool {
        apply((kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB)
    }

    func unlock() { _ = apply(LOCK_UN) }

    /// Whether nobody holds the lock. Asking takes it for a moment.
    var isFree: Bool {
        defer { unlock() }
        return tryLock(.exclusive)
    }

    /// Waits for the lock. `purpose` says in an error what was waited for.
    func lock(_ kind: Kind, within limit: Duration, purpose: String) async throws(PrivatePostgresError) {
        try await poll(within: limit, purpose: purpose) { self.tryLock(kind) }
    }

    private func apply(_ operation: Int32) -> Bool {
        descriptor.withLock { descriptor in
            guard let descriptor else { return false }
            return flock(descriptor, operation) == 0
        }
    }
}

/// Asks again every ten milliseconds until the answer is true.
///
/// - Throws: `.timeout` naming the purpose when the time is over, `.cancelled` with the task.
func poll(
    within limit: Duration,
    purpose: @autoclosure () -> String,
    _ isDone: () async throws(PrivatePostgresError) -> Bool
) async throws(PrivatePostgresError) {
    let deadline = ContinuousClock.now + limit
    while try await !isDone() {
        guard ContinuousClock.now < deadline else {
            throw PrivatePostgresError(.timeout, "waited \(limit) in vain for \(purpose())")
        }
        do {
            try await Task.sleep(for: .milliseconds(10))
        } catch {
            throw PrivatePostgresError(.cancelled, "the task was cancelled while it waited for \(purpose())")
        }
    }
}
