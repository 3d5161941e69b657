import Glibc

/// Owner, group and mode of a file; of a symbolic link itself, not of what it points to.
struct FileStatus {
    let owner: UInt32
    let group: UInt32
    private let mode: mode_t

    init(_ path: String) throws(PrivatePostgresError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .folder("\(path) cannot be examined", errno) }
        (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode)
    }

    var isFolder: Bool { mode & S_IFMT == S_IFDIR }

    /// The nine bits of read, write and execute, and the three above them.
    var permissions: mode_t { mode & 0o7777 }

    func canBeEntered(by user: SystemUser) -> Bool {
        let bit: mode_t = user.id == owner ? 0o100 : user.group == group ? 0o010 : 0o001
        return permissions & bit != 0
    }
}

/// A text file of the server, read for error messages; never through a link.
enum ServerFile {
    /// Its size in bytes; 0 if it is missing.
    static func size(_ path: String) -> Int { reading(path) { lseek($0, 0, Int32(SEEK_END)) } ?? 0 }

    /// The text from an offset on, at most its last 64 KiB; empty if it cannot be read.
    static func text(_ path: String, from start: Int = 0) -> String {
        let limit = 65536
        let bytes = reading(path) { descriptor in
            let first = max(start, lseek(descriptor, 0, Int32(SEEK_END)) - limit)
            return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, limit, first))
            }
        }
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    private static func reading<R>(_ path: String, _ body: (Int32) -> R) -> R? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return body(descriptor)
    }
}

/// A user of the operating system.
struct SystemUser: Sendable, Hashable {
    let name: String
    let id: UInt32
    let group: UInt32

    /// The user who runs this process; nil if the id has no name on this system.
    static var current: SystemUser? { SystemUser(id: geteuid()) }

    init?(name: String) { self.init { getpwnam_r(name, $0, $1, $2, $3) } }

    init?(id: UInt32) { self.init { getpwuid_r(id, $0, $1, $2, $3) } }

    private typealias Entry = UnsafeMutablePointer<passwd>

    private init?(_ find: (Entry, UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<Entry?>) -> Int32) {
        var entry = passwd()
        var found: Entry?
        let size = 16384
        var buffer = [CChar](repeating: 0, count: size)
        let user: (String, UInt32, UInt32)? = buffer.withUnsafeMutableBufferPointer { buffer in
            guard find(&entry, buffer.baseAddress!, size, &found) == 0, found != nil, let name = entry.pw_name else {
                return nil
            }
            return (String(cString: name), entry.pw_uid, entry.pw_gid)
        }
        guard let user else { return nil }
        (name, id, group) = user
    }
}
