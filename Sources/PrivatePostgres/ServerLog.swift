import SystemPackage

/// A text file of the server, read for error messages.
struct ServerLog {
    private let path: FilePath

    init(_ path: String) { self.path = FilePath(path) }

    /// Its size in bytes; 0 if it is missing.
    var size: Int64 {
        reading { descriptor in try descriptor.seek(offset: 0, from: .end) } ?? 0
    }

    /// The text from an offset on, at most its last 64 KiB; empty if it cannot be read.
    func text(from start: Int64) -> String {
        let limit: Int64 = 65536
        let first = max(start, size - limit)
        let bytes = reading { descriptor in
            try [UInt8](unsafeUninitializedCapacity: Int(limit)) { buffer, count in
                count = try descriptor.read(fromAbsoluteOffset: first, into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    func lastLines(_ count: Int, from start: Int64) -> [String] {
        text(from: start).split(whereSeparator: \.isNewline).suffix(count).map(String.init)
    }

    private func reading<R>(_ body: (FileDescriptor) throws -> R) -> R? {
        let options: FileDescriptor.OpenOptions = [.nonBlocking, .closeOnExec, .noFollow]
        guard let descriptor = try? FileDescriptor.open(path, .readOnly, options: options) else { return nil }
        return try? descriptor.closeAfter { try body(descriptor) }
    }
}
