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
