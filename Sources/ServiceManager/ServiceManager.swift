// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The systemd that started this process and wants to hear how it fares.
///
/// Source: [sd_notify(3)](https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html).
public struct ServiceManager: Sendable {
    /// How long the service manager waits for a sign of life before it restarts this process; nil: it asks for none.
    public let watchdogInterval: Duration?

    private let address: NotificationAddress

    /// Reads where to notify.
    ///
    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///   - processID: This process, for whom `WATCHDOG_PID` says whether the watchdog is meant.
    /// - Returns: nil if nobody wants to be notified.
    /// - Throws: ``ServiceManagerError`` if `NOTIFY_SOCKET` is no address of a Unix socket.
    public init?(environment: [String: String], processID: Int32) throws(ServiceManagerError) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        address = try NotificationAddress(path)
        let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == processID } ?? true
        watchdogInterval =
            isMeant
            ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    /// Tells the service manager how this process fares, in one datagram.
    ///
    /// - Throws: ``ServiceManagerError`` if it cannot be told.
    public func notify(_ states: [State]) throws(ServiceManagerError) {
        try address.send(states.map(\.line).joined(separator: "\n"))
    }

    /// What a service manager can be told.
    public enum State: Sendable, Hashable {
        /// The service does its work from now on.
        case ready
        /// The service is ending.
        case stopping
        /// A sign of life.
        case watchdog
        /// How the service fares, in one line for people.
        case status(String)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .status(let text): "STATUS=" + text.replacing("\n", with: " ")
            }
        }
    }
}
