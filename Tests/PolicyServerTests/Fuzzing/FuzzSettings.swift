// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import TestRandom

/// How long the fuzz tests run and what they repeat: `VERSIONGATE_FUZZ_SECONDS` for each of them (default 1),
/// `VERSIONGATE_SEED` to repeat a run.
enum FuzzSettings {
    /// How long each test goes on.
    static let duration: Duration = .seconds(
        ProcessInfo.processInfo.environment["VERSIONGATE_FUZZ_SECONDS"].flatMap(Double.init) ?? 1
    )

    /// Whether this is a run of its own, whose memory can be judged.
    static var isLong: Bool { duration >= .seconds(30) }

    /// The random numbers of a test, and what they were made from.
    static func generator() -> SeededGenerator {
        let seed = ProcessInfo.processInfo.environment["VERSIONGATE_SEED"].flatMap { UInt64($0) }
        return SeededGenerator(seed: seed ?? .random(in: 0...UInt64.max))
    }

    /// The memory of this process that is in use, in bytes; 0 where the system does not say.
    static func residentBytes() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kilobytes * 1024
    }
}
