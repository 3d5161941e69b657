import Foundation
import SystemPackage
import UpdatePolicy

/// Writes good policies to their file, one after the other.
///
/// Sections that a policy shares with the one written before are copied from what was written and not encoded again: an
/// edit of a large policy costs what it changed, and the copying. They are copied from the file that this writer made,
/// which it keeps open, whatever has its name by then: several servers may share a state folder.
struct LastGoodPolicyFileWriter {
    let file: LastGoodPolicyFile
    private let folder: FilePath
    private var written: Written?

    /// The suffix of a file that is not complete yet, or that a killed writer left.
    private static let unfinishedSuffix = ".new"
    /// How long such a file is kept: its writer may be another server that is still running.
    private static let unfinishedLifetime: TimeInterval = 3_600

    private final class Written: Sendable {
        /// Kept, so that no section of another policy gets the identity of one of its.
        let policy: CompiledPolicy
        let lines: [ObjectIdentifier: Range<Int64>]
        let contents: FileDescriptor

        init(policy: CompiledPolicy, lines: [ObjectIdentifier: Range<Int64>], contents: FileDescriptor) {
            self.policy = policy
            self.lines = lines
            self.contents = contents
        }

        deinit { try? contents.close() }
    }

    init(_ file: LastGoodPolicyFile) {
        self.file = file
        folder = FilePath(file.path).removingLastComponent()
    }

    /// Replaces the policy in the file; only the owner can read it.
    ///
    /// - Throws: ``LastGoodPolicyFileError``; the file is then as it was.
    mutating func write(_ policy: CompiledPolicy) throws {
        let unfinished = FilePath("\(file.path).\(UUID().uuidString)\(Self.unfinishedSuffix)")
        do {
            try makeFolder()
            if written == nil { removeLeftovers() }
            let next = try write(policy, to: unfinished)
            guard rename(unfinished.string, file.path) == 0 else { throw Errno(rawValue: errno) }
            written = next
            try Self.synchronize(folder)
        } catch {
            unlink(unfinished.string)
            let reason = (error as? CocoaError)?.localizedDescription ?? "\(error)"
            throw file.fault("the policy cannot be written: \(reason)")
        }
    }

    private func makeFolder() throws {
        // The private PostgreSQL of root runs as another user, who must pass through.
        let mode = geteuid() == 0 ? 0o711 : 0o700
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: mode]
        )
    }

    /// Removes the files that killed writers left.
    private func removeLeftovers() {
        let prefix = (FilePath(file.path).lastComponent?.string ?? "") + "."
        let now = Date()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? [] {
            guard name.hasPrefix(prefix), name.hasSuffix(Self.unfinishedSuffix) else { continue }
            let path = folder.appending(name).string
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let changed = attributes?[.modificationDate] as? Date,
                now.timeIntervalSince(changed) > Self.unfinishedLifetime
            else { continue }
            unlink(path)
        }
    }

    private func write(_ policy: CompiledPolicy, to path: FilePath) throws -> Written {
        let target = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite
        )
        let lines = try target.closeAfter {
            let lines = try write(policy, to: target)
            guard fsync(target.rawValue) == 0 else { throw Errno(rawValue: errno) }
            return lines
        }
        // A descriptor that could write would keep the volume from being made read-only.
        let contents = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return Written(policy: policy, lines: lines, contents: contents)
    }

    private func write(
        _ policy: CompiledPolicy,
        to target: FileDescriptor
    ) throws -> [ObjectIdentifier: Range<Int64>] {
        var output = LastGoodPolicyFileOutput(target)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try output.append(line: Data(LastGoodPolicyFile.firstLine.utf8))
        let header = LastGoodPolicyFile.Header(revision: policy.revision, token: policy.token)
        try output.append(line: encoder.encode(Stored(row: header)))
        var lines: [ObjectIdentifier: Range<Int64>] = [:]
        for section in policy.sections {
            let start = output.position
            if let written, let range = written.lines[section.id] {
                try output.copy(range, of: written.contents)
            } else {
                let rows = LastGoodPolicyFile.Section(
                    app: section.app, releases: section.releases, rules: section.rules
                )
                try output.append(line: encoder.encode(Stored(row: rows)))
            }
            lines[section.id] = start..<output.position
        }
        try output.finish()
        return lines
    }

    private static func synchronize(_ folder: FilePath) throws {
        let descriptor = try FileDescriptor.open(folder, .readOnly, options: .closeOnExec)
        try descriptor.closeAfter {
            guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}

/// Writes the bytes of the file in chunks and computes their checksum.
private struct LastGoodPolicyFileOutput {
    private static let chunk = 1 << 20

    private let target: FileDescriptor
    private var pending = Data()
    private var checksum = SHA256()
    private(set) var position: Int64 = 0

    init(_ target: FileDescriptor) {
        self.target = target
    }

    mutating func append(line: Data) throws {
        pending.append(line)
        pending.append(UInt8(ascii: "\n"))
        position += Int64(line.count) + 1
        if pending.count >= Self.chunk { try flush() }
    }

    mutating func copy(_ range: Range<Int64>, of source: FileDescriptor) throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(range.upperBound - offset, Int64(Self.chunk)))
            var part = Data(count: count)
            let read = try part.withUnsafeMutableBytes { try source.read(fromAbsoluteOffset: offset, into: $0) }
            guard read > 0 else { throw Errno.ioError }
            pending.append(part.prefix(read))
            offset += Int64(read)
            if pending.count >= Self.chunk { try flush() }
        }
        position += Int64(range.count)
    }

    mutating func finish() throws {
        try flush()
        pending = Data((LastGoodPolicyFile.checksumName + checksum.finalize().hexadecimal + "\n").utf8)
        _ = try target.writeAll(pending)
    }

    private mutating func flush() throws {
        checksum.update(data: pending)
        _ = try target.writeAll(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
