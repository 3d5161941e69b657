// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import SystemPackage

/// The notes in the state folder of which policies servers were about to answer from when they ended.
///
/// A note is a file that holds the token of the policy. The server that made it has locked it, so a note without a lock is
/// that of a server that died; nobody has to find out which process that was.
struct PolicyTrialNotes: Sendable {
    /// A policy that this server may die of; it is open, and locked, for as long as the server lives.
    struct Note: Sendable {
        fileprivate let path: String
        fileprivate let file: FileDescriptor
    }

    /// How many deaths hold a policy back.
    static let deaths = 2
    /// How long after the first of them the last one may be.
    static let period: TimeInterval = 600
    /// How many notes of servers that died are kept.
    private static let mostKept = 32
    private static let name = "policy-trial."
    private static let unfinishedName = "policy-trial-new."

    let folder: String

    /// Notes a policy.
    ///
    /// - Throws: where the folder cannot be written.
    func begin(_ token: String) throws -> Note {
        let id = UUID().uuidString
        let unfinished = "\(folder)/\(Self.unfinishedName)\(id)"
        let note = Note(
            path: "\(folder)/\(Self.name)\(id)",
            file: try FileDescriptor.open(
                FilePath(unfinished),
                .readWrite,
                options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            )
        )
        do {
            guard flock(note.file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
            try note.file.writeAll(token.utf8)
            guard rename(unfinished, note.path) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(unfinished)
            try? note.file.close()
            throw error
        }
        return note
    }

    /// Takes a note back.
    func end(_ note: Note) {
        unlink(note.path)
        try? note.file.close()
    }

    /// The tokens that servers died of so often that they are held back.
    func heldTokens() -> Set<String> {
        let dead = Dictionary(grouping: died().prefix(Self.mostKept), by: \.token)
        return Set(
            dead.filter { _, notes in
                zip(notes, notes.dropFirst(Self.deaths - 1)).contains { newer, older in
                    newer.at.timeIntervalSince(older.at) <= Self.period
                }
            }
            .keys
        )
    }

    /// Forgets the servers that died, because another policy answers since.
    ///
    /// - Parameter most: How many are kept, the newest.
    func forgetDeaths(keeping most: Int = 0) {
        for note in died().dropFirst(most) { unlink(note.path) }
    }

    /// Forgets the oldest deaths where there are many.
    func prune() { forgetDeaths(keeping: Self.mostKept) }

    private struct Death {
        let path: String
        let token: String
        /// When the policy was noted, which is at most a minute before.
        let at: Date
    }

    /// The notes of servers that died, the newest first.
    private func died() -> [Death] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(Self.name) }.compactMap { death(at: "\(folder)/\($0)") }
            .sorted { $0.at > $1.at }
    }

    private func death(at path: String) -> Death? {
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec) else { return nil }
        return try? file.closeAfter { () -> Death? in
            guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 128)
            let count = try bytes.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard let at = attributes[.modificationDate] as? Date, count > 0 else { return nil }
            return Death(path: path, token: String(decoding: bytes[..<count], as: UTF8.self), at: at)
        }
    }
}
