// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import NIOCore
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("The Date header")
struct HTTPDateTests {
    @Test("is an IMF-fixdate, and moves on with the second")
    func movesOn() {
        var date = HTTPDate()
        let times: [Int64] = [784_111_777_000_000, 784_111_777_999_999, 784_111_778_000_000]
        let texts = times.map { microseconds -> String in
            var buffer = ByteBuffer()
            date.write(to: &buffer, at: Timestamp(microsecondsSince1970: microseconds))
            return String(buffer: buffer)
        }
        #expect(
            texts == [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT",
            ]
        )
    }

    @Test("agrees with Foundation's calendar over five centuries")
    func agreesWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for seconds in stride(from: Int64(0), through: 16_000_000_000, by: 7_654_321) {
            #expect(HTTPDate.format(seconds) == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds))))
        }
    }
}
