import Foundation
import Testing
import UpdateFeeds
import UpdatePolicy

@testable import CheckListener

@Suite("Date header")
struct HTTPDateTests {
    @Test("The date agrees with Foundation's calendar from 1800 to 2477")
    func agreesWithFoundation() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for seconds in stride(from: Int64(-5_364_662_400), through: 16_000_000_000, by: 7_654_321) {
            #expect(
                InternetDate.text(Timestamp(secondsSince1970: seconds), zone: "GMT")
                    == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            )
        }
    }

    @Test("The date is the second that a time is in, also before 1970")
    func second() {
        for (microseconds, second) in [(0, 0), (-1, -1), (-1_000_000, -1), (-1_000_001, -2), (1_999_999, 1)] {
            #expect(Timestamp(microsecondsSince1970: Int64(microseconds)).second == second)
        }
    }
}
