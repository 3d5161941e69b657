import Dispatch

/// Reads and writes the storage of an app, which may block: one after the other, on a queue of its own.
final class StorageQueue: Sendable {
    private let storage: any GateStorage
    private let queue = DispatchQueue(label: "dev.versiongate.storage", qos: .userInitiated)
    /// What is known to be kept. Nothing is known until storage was read or written, and after either failed.
    private let known = Locked(Known.nothing)

    private enum Known: Equatable {
        case nothing
        case text(String?)
    }

    init(_ storage: any GateStorage) {
        self.storage = storage
    }

    /// The kept text; nil if nothing is kept, or if it cannot be read.
    func read() async -> String? {
        await withCheckedContinuation { continuation in
            queue.async {
                let text = try? self.storage.read()
                self.known.withLock { $0 = text.map(Known.text) ?? .nothing }
                continuation.resume(returning: text ?? nil)
            }
        }
    }

    /// Writes what `memory` gives when its turn comes, unless that is nothing, or is kept already.
    ///
    /// What cannot be written now is written with the next change.
    func write(_ memory: @escaping @Sendable () -> Memory?) {
        queue.async {
            guard let memory = memory() else { return }
            let text = memory.text
            if self.known.withLock({ $0 != .text(text) }) { self.keep(text) }
        }
    }

    /// Deletes what is kept, before anything newer is written: storage that is full may still delete.
    func delete() {
        queue.async { self.keep(nil) }
    }

    private func keep(_ text: String?) {
        let isKept = (try? storage.write(text)) != nil
        known.withLock { $0 = isKept ? .text(text) : .nothing }
    }

    /// Waits until all that was begun before is done.
    func finish() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}
