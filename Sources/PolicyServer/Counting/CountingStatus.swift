import UpdatePolicy

/// The totals of counting, in checks since the server started.
struct CountingStatus: Sendable, Equatable {
    /// Checks that were answered and counted in memory.
    var recorded = 0
    /// Those among them whose app the policy does not list; they are counted without their kind.
    var unlistedApp = 0
    /// Those among them whose kind is beyond the bound on kinds; they are counted without their kind.
    var beyondBound = 0
    /// Those among them that named a version which cannot be read.
    var unreadableVersion = 0
    /// Checks whose counts the database has.
    var written = 0
    /// Checks whose counts were dropped, because the database could not be written.
    var dropped = 0
    /// When the database was written last; nil before the first time.
    var lastWritten: Timestamp?
    /// Whether the last attempt to write succeeded; nil before the first one.
    var isWritable: Bool?
    /// Rules whose fuse has blown because of what this server wrote.
    var blownFuses = 0
    /// Attempts to judge the fuses that failed.
    var fuseFailures = 0

    /// Checks that are counted in the one row without a kind.
    var otherKind: Int { unlistedApp + beyondBound }
}
