import Glibc

/// A user of the operating system.
struct SystemUser: Sendable, Hashable {
    let name: String
    let id: UInt32
    let group: UInt32

    /// The user who runs this process; nil if the id has no name on this system.
    static var current: SystemUser? { named(by: .id(geteuid())) }

    init?(name: String) {
        guard let user = Self.named(by: .name(name)) else { return nil }
        self = user
    }

    init?(id: UInt32) {
        guard let user = Self.named(by: .id(id)) else { return nil }
        self = user
    }

    private init(name: String, id: UInt32, group: UInt32) {
        self.name = name
        self.id = id
        self.group = group
    }

    private enum Key {
        case name(String)
        case id(UInt32)
    }

    private static func named(by key: Key) -> SystemUser? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16384) { buffer in
            let status =
                switch key {
                case .name(let name): getpwnam_r(name, &entry, buffer.baseAddress!, buffer.count, &found)
                case .id(let id): getpwuid_r(id, &entry, buffer.baseAddress!, buffer.count, &found)
                }
            guard status == 0, found != nil, let name = entry.pw_name else { return nil }
            return SystemUser(name: String(cString: name), id: entry.pw_uid, group: entry.pw_gid)
        }
    }
}
