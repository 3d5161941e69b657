// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// How long to wait before the next attempt to connect: twice as long after each failure, with jitter.
///
/// The bound is low because an edit has to be live two seconds after the database is back, and a connection attempt a
/// second costs a database nothing.
struct ReconnectBackoff {
    static let initial: Duration = .milliseconds(50)
    static let maximum: Duration = .milliseconds(1_000)

    private var delay = initial

    /// The next delay, between half and the whole of the current step.
    mutating func nextDelay(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { delay = min(delay * 2, Self.maximum) }
        return delay * Double.random(in: 0.5...1, using: &generator)
    }

    /// Begins anew, after a success.
    mutating func reset() {
        delay = Self.initial
    }
}
