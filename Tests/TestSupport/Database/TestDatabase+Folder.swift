import Foundation

extension TestDatabase {
    /// Where the folders of the tests are: in `TMPDIR` if it is set, else in memory where there is room, else in `/tmp`.
    ///
    /// A database is hundreds of files; to make and delete them on a disk takes longer than most tests.
    private static let parent: String = {
        if let folder = ProcessInfo.processInfo.environment["TMPDIR"] { return folder }
        let memory = "/dev/shm"
        var status = statvfs()
        guard access(memory, W_OK) == 0, statvfs(memory, &status) == 0,
            UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 4 << 30
        else { return "/tmp" }
        return memory
    }()

    /// The path of a folder that does not exist yet.
    package static func freshFolder() -> String {
        "\(parent)/versiongate-test-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }
}
