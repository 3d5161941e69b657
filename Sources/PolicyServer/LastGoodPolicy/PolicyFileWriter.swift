// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Crypto
import Foundation
import SystemPackage
import UpdatePolicy

/// Writes good policies to their file, one after the other.
///
/// Sections that a policy shares with the one written before are copied from what was written and not encoded again: an
/// edit of a large policy costs what it changed, and the copying. They are copied from the file that this writer made,
/// which it keeps open, whatever has its name by then: several servers may share a state folder.
struct PolicyFileWriter {
    let file: PolicyFile
    private let folder: FilePath
    private var written: Written?

    /// What the names of files end with that are not written to their end, or that a killed writer left.
    private static let unfinishedSuffix = ".new"
    /// How long such a file stays, for its writer may be another server that is still at work.
    private static let unfinishedLifetime: TimeInterval = 3_600

    /// What this writer wrote last.
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

    init(_ file: PolicyFile) {
        self.file = file
        folder = FilePath(file.path).removingLastComponent()
    }

    /// Puts a policy in place of the one in the file; readable for the owner alone.
    ///
    /// - Throws: ``PolicyFileError``; the file is then as it was.
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
        let mode = geteuid() == 0 ? 0o755 : 0o700
        try FileManager.default.createDirectory(
            atPath: folder.string,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: mode]
        )
    }

    /// Removes what writers left that were killed.
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
            path,
            .writeOnly,
            options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: .ownerReadWrite
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
        var output = PolicyFileOutput(target)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try output.append(line: Data(PolicyFile.firstLine.utf8))
        let header = PolicyFile.Header(revision: policy.revision, token: policy.token)
        try output.append(line: encoder.encode(Stored(row: header)))
        var lines: [ObjectIdentifier: Range<Int64>] = [:]
        for section in policy.sections {
            let start = output.position
            if let written, let range = written.lines[section.id] {
                try output.copy(range, of: written.contents)
            } else {
                let rows = PolicyFile.Section(app: section.app, releases: section.releases, rules: section.rules)
                try output.append(line: encoder.encode(Stored(row: rows)))
            }
            lines[section.id] = start..<output.position
        }
        try output.finish()
        return lines
    }

    /// Makes the renaming last.
    private static func synchronize(_ folder: FilePath) throws {
        let descriptor = try FileDescriptor.open(folder, .readOnly, options: .closeOnExec)
        try descriptor.closeAfter {
            guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}
