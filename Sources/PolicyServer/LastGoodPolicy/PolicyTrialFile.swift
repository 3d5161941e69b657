import Glibc
import SystemPackage
import UpdatePolicy

/// The file `policy-trial` in the state folder: which policies a server has on trial, and of which servers died.
///
/// Each line is a token, behind which a death has its time in microseconds since 1970. A living server has locked the file,
/// so what is on trial in a file without a lock is a death; nobody has to find out which process that was. While something
/// is on trial, the server gives the file the present time again and again, which tells when it died. Of several servers
/// with one folder the first notes what it has on trial, and the others nothing.
final class PolicyTrialFile: Sendable {
    struct Death: Sendable {
        let token: String
        let at: Timestamp
    }

    /// How long ago a death counts.
    static let microsecondsCounted: Int64 = 600_000_000
    /// How far apart two deaths are at least, so that one cause is not taken for two.
    private static let microsecondsApart: Int64 = 1_000_000
    /// How many deaths are kept.
    private static let mostKept = 32
    private static let longest = 16_384

    private let file: FileDescriptor
    /// Whether this server notes here what it has on trial.
    let isOurs: Bool
    /// The deaths that counted when the file was opened, the last one first. Others are forgotten: a clock that is set to
    /// another time must not bring them back.
    let deaths: [Death]

    /// Opens the file; nil where there is none, or something else.
    init?(_ path: String, at now: Timestamp, creates: Bool) {
        let options: FileDescriptor.OpenOptions = creates ? [.create, .nonBlocking] : .nonBlocking
        guard
            let file = try? FileDescriptor.open(
                FilePath(path), .readWrite, options: options.union(.closeOnExec), permissions: .ownerReadWrite
            )
        else { return nil }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            try? file.close()
            return nil
        }
        self.file = file
        let isOurs = flock(file.rawValue, LOCK_EX | LOCK_NB) == 0
        self.isOurs = isOurs
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, count in
            count = (try? file.read(fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
        }
        // A file system can hold any time.
        let seconds = Int64(min(max(status.st_mtim.tv_sec, 0), 1 << 40))
        let touched = seconds * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1_000
        let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line -> Death? in
            let words = line.split(separator: " ")
            guard let time = words.count == 2 ? Int64(words[1]) : words.count == 1 && isOurs ? touched : nil else {
                return nil
            }
            return Death(token: String(words[0]), at: Timestamp(microsecondsSince1970: time))
        }
        let end = now.microsecondsSince1970
        deaths = Array(
            all.filter {
                (end - Self.microsecondsCounted...end).contains($0.at.microsecondsSince1970)
            }.sorted { $0.at > $1.at }.prefix(Self.mostKept)
        )
    }

    deinit { try? file.close() }

    /// The tokens that servers died of twice, and until when that counts.
    var heldTokens: [String: Timestamp] {
        Dictionary(grouping: deaths, by: \.token).compactMapValues { deaths in
            let newest = deaths[0].at.microsecondsSince1970
            let before = deaths.first { newest - $0.at.microsecondsSince1970 >= Self.microsecondsApart }
            return before?.at.advanced(byMicroseconds: Self.microsecondsCounted)
        }
    }

    /// Notes what is on trial at a time, and the deaths.
    func write(_ tokens: [String], _ deaths: [Death], at now: Timestamp) {
        let lines = deaths.map { "\($0.token) \($0.at.microsecondsSince1970)\n" } + tokens.map { "\($0)\n" }
        let count = try? file.writeAll(toAbsoluteOffset: 0, lines.joined().utf8)
        ftruncate(file.rawValue, count ?? 0)
        touch(at: now)
    }

    /// The server lives at this time.
    func touch(at now: Timestamp) {
        let microseconds = now.microsecondsSince1970
        let time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1_000)
        futimens(file.rawValue, [time, time])
    }
}
