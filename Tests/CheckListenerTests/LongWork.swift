import Synchronization

/// The thread of long work, as a test wants it: what is to be done is done at once, or when the test says so.
final class LongWork: Sendable {
    private let held: Mutex<[@Sendable () -> Void]?>

    /// - Parameter isHeld: Whether the work waits for ``release()``.
    init(isHeld: Bool = false) {
        held = Mutex(isHeld ? [] : nil)
    }

    /// Does some work, or holds it.
    var run: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [self] work in
            let isHeld = held.withLock { held in
                held?.append(work)
                return held != nil
            }
            if !isHeld { work() }
        }
    }

    /// Does what was held, on the thread that calls.
    func release() {
        let works = held.withLock { held in
            defer { held = [] }
            return held ?? []
        }
        for work in works { work() }
    }

    /// Whether there is held work.
    var isWaited: Bool { held.withLock { $0?.isEmpty == false } }
}
