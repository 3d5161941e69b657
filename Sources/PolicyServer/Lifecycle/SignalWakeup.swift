import Foundation

/// A semaphore that a signal handler may post, to wake a thread that exists already.
struct SignalWakeup: @unchecked Sendable {  // sem_post and sem_wait are safe from everywhere; it is never freed
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func signal() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }

    /// Starts a thread with a small stack.
    static func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.stackSize = 256 << 10
        thread.start()
    }
}
