import Glibc

/// The folder `postgres` in the state folder, which holds everything of the private PostgreSQL.
///
/// Only its owner, the user who runs the server, can enter it (mode 0700).
struct ClusterFolder: Sendable {
    let stateDirectory: String
    let path: String
    let owner: SystemUser
    let socketDirectory: String

    var data: String { path + "/data" }
    var log: String { path + "/server.log" }
    var leaseLock: String { path + "/leases.lock" }
    var startLock: String { path + "/start.lock" }
    var serverLock: String { path + "/server.lock" }

    /// Creates what is missing and checks what is there.
    init(stateDirectory: String) throws(PrivatePostgresError) {
        guard !stateDirectory.isEmpty, !stateDirectory.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
            throw PrivatePostgresError(
                .folderUnusable, "the path of the state folder is empty or holds control characters",
                hint: "Choose another state folder with --state-dir."
            )
        }
        let isRoot = geteuid() == 0
        try Self.createFolders(stateDirectory, mode: isRoot ? 0o711 : 0o700)
        guard let resolved = realpath(stateDirectory, nil) else {
            throw .folder("the state folder \(stateDirectory) cannot be found", errno)
        }
        self.stateDirectory = String(cString: resolved)
        free(resolved)
        path = (self.stateDirectory == "/" ? "" : self.stateDirectory) + "/postgres"

        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Self.notWritable(self.stateDirectory, errno) }
        let status = try FileStatus(path)
        guard status.isFolder else { throw .folder("\(path) cannot be used", ENOTDIR) }
        owner = try Self.owner(of: path, status)
        try Self.give(path, to: owner, status)
        if isRoot { try Self.checkReachable(self.stateDirectory, for: owner) }
        socketDirectory = try Self.createSocketDirectory(in: path, owner: owner)
    }

    /// Creates a folder and its parents where they are missing.
    ///
    /// The mode is set again after the creation, because the server's user must get through even if root's file mode
    /// creation mask hides new folders from others.
    private static func createFolders(_ path: String, mode: mode_t) throws(PrivatePostgresError) {
        var status = mkdir(path, mode)
        if status != 0, errno == ENOENT {
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            guard !parent.isEmpty else { throw notWritable(path, ENOENT) }
            try createFolders((path.hasPrefix("/") ? "/" : "") + parent, mode: mode)
            status = mkdir(path, mode)
        }
        if status != 0, errno == EEXIST { return }
        guard status == 0, chmod(path, mode) == 0 else { throw notWritable(path, errno) }
    }

    private static func notWritable(_ path: String, _ fault: Int32) -> PrivatePostgresError {
        let user = SystemUser.current?.name ?? "user \(geteuid())"
        return .folder("the state folder \(path) cannot be written by \(user)", fault)
    }

    /// The user who runs the server: the user of this process; for root the owner of the folder, else `postgres`, else
    /// `nobody`, because PostgreSQL refuses to run as root.
    private static func owner(of path: String, _ status: FileStatus) throws(PrivatePostgresError) -> SystemUser {
        let user = geteuid()
        let named = SystemUser(id: status.owner)
        if user != 0 {
            guard let current = SystemUser.current else {
                throw PrivatePostgresError(
                    .folderUnusable, "the user id \(user) has no name on this system, which PostgreSQL asks for",
                    hint: "Add the user to /etc/passwd, or set DATABASE_URL to use a database elsewhere."
                )
            }
            guard status.owner == user else {
                throw PrivatePostgresError(
                    .folderUnusable,
                    "\(path) belongs to \(named?.name ?? "user \(status.owner)"), not to \(current.name)",
                    hint: "Run the command as root, or choose another state folder with --state-dir."
                )
            }
            return current
        }
        if status.owner != 0, let named { return named }
        guard let owner = SystemUser(name: "postgres") ?? SystemUser(name: "nobody"), owner.id != 0 else {
            throw PrivatePostgresError(
                .folderUnusable, "root cannot run PostgreSQL, and the system has neither a user postgres nor nobody",
                hint: "Create a user postgres, or set DATABASE_URL to use a database elsewhere."
            )
        }
        return owner
    }

    private static func give(_ path: String, to owner: SystemUser, _ status: FileStatus) throws(PrivatePostgresError) {
        if geteuid() == 0, lchown(path, owner.id, owner.group) != 0 {
            throw .folder("\(path) cannot be given to \(owner.name)", errno)
        }
        if status.permissions != 0o700, chmod(path, 0o700) != 0 {
            throw .folder("the mode of \(path) cannot be changed", errno)
        }
    }

    /// Names the first folder on the way that the server's user may not enter.
    private static func checkReachable(_ path: String, for owner: SystemUser) throws(PrivatePostgresError) {
        var folder = ""
        for component in [""] + path.split(separator: "/").map(String.init) {
            folder += component.isEmpty ? "/" : (folder == "/" ? component : "/" + component)
            let status = try FileStatus(folder)
            guard status.canBeEntered(by: owner) else {
                throw PrivatePostgresError(
                    .folderUnusable,
                    "the folder \(folder), on the way to the state folder \(path), cannot be entered by the user "
                        + "\(owner.name), as whom PostgreSQL runs (its mode is \(String(status.permissions, radix: 8)))",
                    hint: "Choose a state folder elsewhere with --state-dir, such as /var/lib/versiongate."
                )
            }
        }
    }

    /// Where the socket is: in the folder, unless its path would exceed what a socket's address can hold or holds a
    /// comma, by which PostgreSQL separates folders; then in a folder of /tmp that is named after it.
    private static func createSocketDirectory(
        in path: String,
        owner: SystemUser
    ) throws(PrivatePostgresError) -> String {
        let longestPath = 103 - "/.s.PGSQL.65535".utf8.count
        var folder = path + "/socket"
        if folder.utf8.count > longestPath || folder.contains(",") {
            folder = "/tmp/versiongate-\(owner.id)-\(String(fingerprint(path), radix: 16))"
        }
        if mkdir(folder, 0o700) == 0 {
            try give(folder, to: owner, FileStatus(folder))
        } else if errno != EEXIST {
            throw .folder("the folder \(folder) of the socket cannot be created", errno)
        }
        let status = try FileStatus(folder)
        if status.isFolder, status.owner == 0, geteuid() == 0 { try give(folder, to: owner, status) }
        guard status.isFolder, [owner.id, geteuid()].contains(status.owner), status.permissions == 0o700 else {
            throw PrivatePostgresError(
                .folderUnusable,
                "the folder \(folder) of the socket is not a folder of \(owner.name)'s that others cannot enter",
                hint: "Remove it, or choose a state folder with a shorter path with --state-dir."
            )
        }
        return folder
    }

    /// The 64-bit FNV-1a hash: http://www.isthe.com/chongo/tech/comp/fnv/
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
