import Foundation
import SystemPackage
import UpdatePolicy

/// The notes in the state folder of which policies servers were about to answer from when they ended.
///
/// A note is a file that holds the token of the policy. The server that made it has locked it, so a note without a lock is
/// that of a server that died; nobody has to find out which process that was. A living server gives its notes the present
/// time again and again, so they tell when it died, and the notes of servers that died together have one time.
struct PolicyTrialNotes: Sendable {
    /// A policy that this server may die of; it is open, and locked, for as long as the server lives.
    struct Note: Sendable {
        fileprivate let path: String
        fileprivate let file: FileDescriptor
    }

    /// How long ago a death counts.
    static let microsecondsCounted: Int64 = 600_000_000
    /// How far apart two deaths are at least; what ends all servers of a machine is one.
    private static let microsecondsApart: Int64 = 1_000_000
    /// How many notes of servers that died are kept.
    private static let mostKept = 32
    private static let name = "policy-trial."
    private static let unfinishedName = "policy-trial-new."

    let folder: String

    /// Notes a policy.
    ///
    /// - Throws: where the folder cannot be written.
    func begin(_ token: String, at now: Timestamp) throws -> Note {
        let id = UUID().uuidString
        let unfinished = "\(folder)/\(Self.unfinishedName)\(id)"
        let note = Note(
            path: "\(folder)/\(Self.name)\(id)",
            file: try FileDescriptor.open(
                FilePath(unfinished), .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            )
        )
        do {
            guard flock(note.file.rawValue, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
            try note.file.writeAll(token.utf8)
            touch(note, at: now)
            guard rename(unfinished, note.path) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(unfinished)
            try? note.file.close()
            throw error
        }
        return note
    }

    /// The server lives at this time.
    func touch(_ note: Note, at now: Timestamp) {
        let microseconds = now.microsecondsSince1970
        let time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1_000)
        futimens(note.file.rawValue, [time, time])
    }

    /// Takes a note back.
    func end(_ note: Note) {
        unlink(note.path)
        try? note.file.close()
    }

    /// The tokens that servers died of twice, and until when that counts.
    func heldTokens(at now: Timestamp) -> [String: Timestamp] {
        Dictionary(grouping: deaths(at: now), by: \.token).compactMapValues { deaths in
            let newest = deaths[0].at.microsecondsSince1970
            let before = deaths.first { newest - $0.at.microsecondsSince1970 >= Self.microsecondsApart }
            return before?.at.advanced(byMicroseconds: Self.microsecondsCounted)
        }
    }

    /// Forgets the servers that died, because another policy answers since.
    func forgetDeaths() {
        for note in deadNotes() { unlink(note.path) }
    }

    private struct Death {
        let path: String
        let token: String
        let at: Timestamp
    }

    /// The newest deaths that count, the last one first. Others are forgotten: a clock that is set to another time must
    /// not bring them back.
    private func deaths(at now: Timestamp) -> [Death] {
        let all = deadNotes().sorted { $0.at > $1.at }
        let now = now.microsecondsSince1970
        let counted = all.filter { (0...Self.microsecondsCounted).contains(now - $0.at.microsecondsSince1970) }
            .prefix(Self.mostKept)
        let paths = Set(counted.map(\.path))
        for note in all where !paths.contains(note.path) { unlink(note.path) }
        return Array(counted)
    }

    private func deadNotes() -> [Death] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(Self.name) }.compactMap { deadNote(at: "\(folder)/\($0)") }
    }

    private func deadNote(at path: String) -> Death? {
        // Shared, so that of two servers that start together each sees it.
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
        else { return nil }
        defer { try? file.close() }
        guard flock(file.rawValue, LOCK_SH | LOCK_NB) == 0,
            let (token, status) = try? WholeFile.read(path, upTo: 128), !token.isEmpty
        else { return nil }
        let time = status.st_mtim
        // A file system can hold any time.
        guard (0..<1 << 40).contains(time.tv_sec) else { return nil }
        return Death(
            path: path, token: String(decoding: token, as: UTF8.self),
            at: Timestamp(microsecondsSince1970: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
        )
    }
}
