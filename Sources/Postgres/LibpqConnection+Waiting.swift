import CLibpq
import Glibc

extension LibpqConnection {
    /// The readiness of the connection's socket to wait for.
    enum Readiness {
        case reading
        case readingAndWriting
    }

    /// Waits for the server within the response timeout. Returns whether something can be read.
    ///
    /// A server that stays silent, or a cancelled task, ends the connection: nothing else is known to end a statement
    /// that is under way.
    func wait(for readiness: Readiness, isCancellable: Bool) throws(PostgresError) -> Bool {
        let deadline = ContinuousClock.now + responseTimeout
        switch try poll(readiness, until: deadline, isCancellable: isCancellable) {
        case .readable: return true
        case .writable: return false
        case .timeout:
            close()
            throw PostgresError(
                .timeout,
                "the server did not answer within \(responseTimeout); the connection is closed"
            )
        case .cancelled:
            close()
            throw PostgresError(.cancelled, "the task was cancelled during a statement; the connection is closed")
        }
    }

    /// Waits for notifications until a deadline or cancellation, which leave the connection as it is.
    func notifications(until deadline: ContinuousClock.Instant) throws(PostgresError) -> [PostgresNotification] {
        guard isOpen else { throw PostgresError(.closed, "the connection is closed") }
        while true {
            try consume()
            let notifications = pendingNotifications()
            if !notifications.isEmpty { return notifications }
            switch try poll(.reading, until: deadline, isCancellable: true) {
            case .readable, .writable: break
            case .timeout: return []
            case .cancelled: throw PostgresError(.cancelled, "the task was cancelled")
            }
        }
    }

    private func pendingNotifications() -> [PostgresNotification] {
        var notifications: [PostgresNotification] = []
        while let notification = PQnotifies(connection) {
            notifications.append(
                PostgresNotification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra), processID: notification.pointee.be_pid
                )
            )
            PQfreemem(notification)
        }
        return notifications
    }

    /// Takes what has arrived on the socket.
    func consume() throws(PostgresError) {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
    }

    /// Closes the connection and gives the reason that libpq knows.
    func lost() -> PostgresError {
        let message = PostgresError.oneLine(PQerrorMessage(connection))
        close()
        return PostgresError(.connectionLost, message)
    }

    private enum Event {
        case readable
        case writable
        case timeout
        case cancelled
    }

    private func poll(
        _ readiness: Readiness,
        until deadline: ContinuousClock.Instant,
        isCancellable: Bool
    ) throws(PostgresError) -> Event {
        let socket = PQsocket(connection)
        guard socket >= 0 else { throw lost() }
        let events = Int16(readiness == .reading ? POLLIN : POLLIN | POLLOUT)
        while true {
            if isCancellable, Task.isCancelled { return .cancelled }
            var entries = [
                pollfd(fd: socket, events: events, revents: 0),
                pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            let remaining = max(0, (deadline - .now).milliseconds)
            let count = systemPoll(&entries, Int32(clamping: remaining))
            if count < 0, errno != EINTR {
                close()
                throw PostgresError(
                    .connectionLost,
                    "waiting for the server failed: \(String(cString: strerror(errno)))"
                )
            }
            if count > 0, entries[1].revents != 0 { wakeup.drain() }
            if count > 0, entries[0].revents != 0 {
                return entries[0].revents & ~Int16(POLLOUT) == 0 ? .writable : .readable
            }
            if deadline <= .now { return .timeout }
        }
    }
}

private func systemPoll(_ entries: inout [pollfd], _ milliseconds: Int32) -> Int32 {
    poll(&entries, nfds_t(entries.count), milliseconds)
}
