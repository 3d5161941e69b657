// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Testing

@testable import PolicyServer

@Suite("The Date header")
struct HTTPDateTests {
    @Test("agrees with Foundation's calendar on days of five centuries")
    func agreesWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for seconds in stride(from: Int64(-2_000_000_000), through: 14_000_000_000, by: 7_654_321) {
            let expected = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect(HTTPDate.format(seconds) == expected)
        }
    }
}
