import Foundation
import NIOCore

/// How many processors this process may use.
package enum AvailableProcessors {
    /// The least of what the machine has, what a container's quota grants, and what `taskset` or systemd allows.
    package static var count: Int {
        max(1, min(System.coreCount, allowedByAffinity ?? .max))
    }

    /// The size of the scheduler's affinity mask, from `/proc/self/status`; nil where that cannot be read.
    private static var allowedByAffinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
        else { return nil }
        return line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    }
}
