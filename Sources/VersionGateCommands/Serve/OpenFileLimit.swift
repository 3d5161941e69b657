import Foundation
import PolicyServer

/// How many files and connections the system lets this process have open.
enum OpenFileLimit {
    /// The descriptors reserved for everything but clients: the database, files, the management listener, four for each event loop.
    ///
    /// There must always be some left: libdispatch ends a process that has work to do and cannot open a file.
    static let reserve = 128 + 4 * AvailableProcessors.count

    /// Raises the limit as far as the process may, and returns it.
    ///
    /// A limit that may not be raised stays as it is: the server then accepts fewer connections.
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return .max }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(openFiles, &raised) == 0 {
                limit = raised
            }
        }
        return Int(clamping: limit.rlim_cur)
    }

    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
