import Glibc

/// Writes to a file descriptor that may be full, closed, non-blocking, or without a reader.
package enum DescriptorWriter {
    /// Writes some of the bytes, and waits where the descriptor takes none at the moment.
    ///
    /// - Returns: How many bytes were written, at least one; nil when it takes none: no space, no reader, no such descriptor.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int? {
        while true {
            let count = systemWrite(descriptor, bytes.baseAddress, bytes.count)
            if count > 0 { return count }
            guard count < 0 else { return nil }
            switch errno {
            case EINTR:
                continue
            case EAGAIN, EWOULDBLOCK:
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = systemPoll(&poll, 1, -1)
            default:
                return nil
            }
        }
    }

    /// Writes all of a text as far as the descriptor takes it; what it does not take is lost.
    package static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { utf8 in
            var rest = UnsafeRawBufferPointer(utf8)
            while !rest.isEmpty {
                guard let count = write(rest, to: descriptor) else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: nfds_t, _ timeout: Int32) -> Int32 {
    poll(descriptors, count, timeout)
}
