package enum ReleaseState: Sendable, Equatable {
    case live(Timestamp)
    /// Some of them can, as its store gives it out in stages.
    case staged
    case noDate
    case comes(Timestamp)
    /// They can no longer, or never could: it was withdrawn before it was live.
    case withdrawn(Timestamp)
}

extension Release {
    package func state(at time: Timestamp) -> ReleaseState {
        if let withdrawnAt, withdrawnAt <= time || liveAt.map({ withdrawnAt <= $0 }) ?? false {
            return .withdrawn(withdrawnAt)
        }
        if staged { return .staged }
        guard let liveAt else { return .noDate }
        return liveAt <= time ? .live(liveAt) : .comes(liveAt)
    }

    package func isLive(at time: Timestamp) -> Bool {
        if case .live = state(at: time) { true } else { false }
    }

    package func isWithdrawn(at time: Timestamp) -> Bool {
        if case .withdrawn = state(at: time) { true } else { false }
    }
}
