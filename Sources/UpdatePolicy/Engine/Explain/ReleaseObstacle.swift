// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A release that a rule waits for, and why the client cannot get it yet.
public struct ReleaseObstacle: Sendable, Hashable {
    /// What keeps a client from a release.
    public enum Reason: Sendable, Hashable {
        /// The release is staged.
        case staged
        /// It has no date.
        case noDate
        /// Its date has not come.
        case liveFrom(Timestamp)
        /// It is for other regions.
        case regions([String])
        /// It needs a later operating system.
        case os(String)
        /// It has not been live for as long as the rule asks.
        case soaksUntil(Timestamp)
    }

    /// The release: `1.2 (42)`.
    public let release: String

    /// What keeps the client from it.
    public let reason: Reason

    /// The two as ``Explanation/release`` has them.
    var label: String {
        switch reason {
        case .staged: "\(release): staged"
        case .noDate: "\(release): no live date"
        case .liveFrom(let time): "\(release): live from \(time)"
        case .regions(let regions): "\(release): region \(regions.joined(separator: ", "))"
        case .os(let version): "\(release): os \(version)"
        case .soaksUntil(let time): "\(release): soaks until \(time)"
        }
    }
}
