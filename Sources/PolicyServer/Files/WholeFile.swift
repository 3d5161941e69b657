import Foundation
import SystemPackage

enum WholeFile {
    /// The suffix of a file that is not complete yet, or that a killed writer left.
    private static let unfinishedSuffix = ".new"
    /// How long such a file is kept: its writer may be another server that is still running.
    private static let unfinishedLifetime: TimeInterval = 3_600

    /// The bytes of a file, or the first of one that is too long, and what the system says of it.
    ///
    /// - Parameter mustBeRegular: Whether a pipe or a device is refused, which would be waited for, or has no end.
    /// - Throws: `Errno`.
    static func read(
        _ path: String,
        upTo limit: Int = .max,
        mustBeRegular: Bool = true
    ) throws -> (bytes: [UInt8], status: stat) {
        // A pipe without a writer would be waited for.
        let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
        return try file.closeAfter {
            var status = stat()
            guard fstat(file.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
            guard !mustBeRegular || status.st_mode & S_IFMT == S_IFREG else { throw Errno.notSupported }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 1 << 16)
            while bytes.count < limit {
                let count = try part.withUnsafeMutableBytes { buffer in
                    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(limit - bytes.count)))
                }
                if count == 0 { break }
                bytes += part.prefix(count)
            }
            return (bytes, status)
        }
    }

    /// Replaces a file, which only its owner can write: there is always a complete one.
    ///
    /// - Parameter isDurable: Whether it outlives a failure of the machine once this has returned.
    /// - Throws: `Errno`; the file is then as it was.
    static func replace(
        _ path: String,
        with bytes: some Sequence<UInt8>,
        permissions: FilePermissions = .ownerReadWrite,
        isDurable: Bool = false
    ) throws {
        let unfinished = self.unfinished(path)
        defer { unlink(unfinished) }
        let file = try FileDescriptor.open(
            FilePath(unfinished), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: permissions
        )
        try file.closeAfter {
            _ = try file.writeAll(bytes)
            if isDurable { try synchronize(file) }
        }
        guard rename(unfinished, path) == 0 else { throw Errno(rawValue: errno) }
        guard isDurable else { return }
        let folder = FilePath(path).removingLastComponent()
        let descriptor = try FileDescriptor.open(folder, .readOnly, options: .closeOnExec)
        try descriptor.closeAfter { try synchronize(descriptor) }
    }

    /// A name for a file that is to get another's name once it is complete.
    static func unfinished(_ path: String) -> String { "\(path).\(UUID().uuidString)\(unfinishedSuffix)" }

    /// Removes the unfinished files that killed writers of a file left.
    static func removeLeftovers(of path: String) {
        let folder = FilePath(path).removingLastComponent()
        let prefix = (FilePath(path).lastComponent?.string ?? "") + "."
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? [] {
            guard name.hasPrefix(prefix), name.hasSuffix(unfinishedSuffix) else { continue }
            let file = folder.appending(name).string
            let attributes = try? FileManager.default.attributesOfItem(atPath: file)
            guard let changed = attributes?[.modificationDate] as? Date,
                Date().timeIntervalSince(changed) > unfinishedLifetime
            else { continue }
            unlink(file)
        }
    }

    private static func synchronize(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
