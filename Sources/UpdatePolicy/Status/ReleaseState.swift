/// Whether users can get a release at a moment.
package enum ReleaseState: Sendable, Equatable {
    case live(Timestamp)
    /// Some of them can, as its store gives it out in stages.
    case staged
    /// It is not known from when on they can.
    case noDate
    case comes(Timestamp)
    /// They can no longer, or never could: it was withdrawn before it was live.
    case withdrawn(Timestamp)
}

extension Release {
    /// Whether users can get the release at a moment.
    package func state(at time: Timestamp) -> ReleaseState {
        if let withdrawnAt, withdrawnAt <= time || liveAt.map({ withdrawnAt <= $0 }) ?? false {
            return .withdrawn(withdrawnAt)
        }
        if staged { return .staged }
        guard let liveAt else { return .noDate }
        return liveAt <= time ? .live(liveAt) : .comes(liveAt)
    }

    /// Whether users can get it at a moment.
    package func isLive(at time: Timestamp) -> Bool {
        if case .live = state(at: time) { return true }
        return false
    }

    /// Whether users can no longer get it.
    package func isWithdrawn(at time: Timestamp) -> Bool {
        if case .withdrawn = state(at: time) { return true }
        return false
    }
}
