// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Testing

@testable import PolicyServer

@Suite("The Date header")
struct HTTPDateTests {
    @Test("agrees with Foundation's calendar over five centuries")
    func agreesWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for seconds in stride(from: Int64(0), through: 16_000_000_000, by: 7_654_321) {
            #expect(
                HTTPDate.format(seconds) == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            )
        }
    }
}
