package import NIOCore
package import UpdatePolicy

/// The recorders of a server's checks, one for each event loop.
package struct CheckRecorders: Sendable {
    private let recorders: [ObjectIdentifier: CheckRecorder]
    private let limit: CardinalityLimit

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

    package func learn(_ kinds: [ClientKind]) { limit.learn(kinds) }

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

    package func drainLockouts() -> [LockoutCounts] { recorders.values.flatMap { $0.drainLockouts() } }

    package func drain(at now: Timestamp) -> [HourlyCounts] { recorders.values.flatMap { $0.drain(at: now) } }
}
