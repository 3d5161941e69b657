@preconcurrency import Glibc
import PolicyServer

/// The standard streams of this process, which may be closed, full or without a reader.
package enum StandardStreams {
    /// Call it once, before anything is opened or printed.
    ///
    /// - A standard stream that is closed becomes `/dev/null`; otherwise the next file or connection that is opened
    ///   would take its place, and what is printed would go there.
    /// - When what a command printed could not be written to standard output, the process ends with 1 and says so. Where
    ///   the reader is gone, as in `| head`, it says nothing.
    package static func prepare() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free is taken, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
        atexit { StandardStreams.finish() }
    }

    /// Writes what is kept back for standard output.
    ///
    /// - Returns: Whether it could be written, and somebody may still read it.
    static func flush() -> Bool {
        guard fflush(stdout) == 0 else { return false }
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&output, 1, 0) <= 0 || output.revents & Int16(POLLERR | POLLHUP) == 0
    }

    private static func finish() {
        errno = 0
        let hasFailed = ferror(stdout) != 0
        guard fflush(stdout) != 0 || hasFailed else { return }
        var reason = errno
        // What failed while the command printed is forgotten by now; the output is cut anyway, so it is asked once more.
        if reason == 0, write(STDOUT_FILENO, "\n", 1) < 0 { reason = errno }
        if reason != EPIPE {
            let fault = reason == 0 ? "it could not be written" : String(cString: strerror(reason))
            let text = "Error: not all of the output could be written to standard output: \(fault)\n"
            DescriptorWriter.write(text, to: STDERR_FILENO)
        }
        _exit(EXIT_FAILURE)
    }
}
