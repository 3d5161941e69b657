package import NIOCore
package import UpdatePolicy

/// The recorders of a server's checks, one for each event loop.
package struct CheckRecorders: Sendable {
    private let recorders: [ObjectIdentifier: CheckRecorder]
    private let limit: CardinalityLimit

    /// Creates the recorders.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: The event loops that answer checks.
    ///   - maximumKinds: How many kinds of clients are kept apart in an hour, beyond those that are known.
    package init(eventLoopGroup: any EventLoopGroup, maximumKinds: Int) {
        limit = CardinalityLimit(maximum: maximumKinds)
        var recorders: [ObjectIdentifier: CheckRecorder] = [:]
        for eventLoop in eventLoopGroup.makeIterator() {
            recorders[ObjectIdentifier(eventLoop)] = CheckRecorder(limit: limit)
        }
        self.recorders = recorders
    }

    /// The recorder of an event loop; nil for one that is not of the group.
    package subscript(_ eventLoop: any EventLoop) -> CheckRecorder? {
        recorders[ObjectIdentifier(eventLoop)]
    }

    /// Keeps these kinds apart from now on, whatever else comes.
    package func learn(_ kinds: [ClientKind]) { limit.learn(kinds) }

    /// The totals of all recorders since the start.
    package var totals: CheckRecorder.Totals {
        recorders.values.reduce(into: CheckRecorder.Totals()) { $0.add($1.totals) }
    }

    /// The names of what nobody configured, of all recorders since the start.
    package var unknownNames: NamesOfUnknowns {
        recorders.values.reduce(into: NamesOfUnknowns()) { names, recorder in
            let other = recorder.unknownNames
            names.unlistedBundles.add(other.unlistedBundles)
            names.textlessLanguages.add(other.textlessLanguages)
        }
    }

    /// Takes over what was counted for lockouts since the last time.
    package func drainLockouts() -> [LockoutCounts] { recorders.values.flatMap { $0.drainLockouts() } }

    /// Takes over everything else that was counted since the last time.
    package func drain(at now: Timestamp) -> [HourlyCounts] { recorders.values.flatMap { $0.drain(at: now) } }
}
