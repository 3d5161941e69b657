import TestRandom
import Testing
import UpdatePolicy

@Suite("Timestamps", .computing, .serialized)
struct TimestampTests {
    @Test(
        "A time in ISO 8601 is read and written in UTC",
        arguments: [
            ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
            ("2026-03-01T12:00:00.5+01:00", "2026-03-01T11:00:00.500000Z"),
            ("2026-03-01T12:00:00.000001Z", "2026-03-01T12:00:00.000001Z"),
            ("2026-03-01 00:00:00-0530", "2026-03-01T05:30:00Z"),
            ("2026-03-01T12:00+02", "2026-03-01T10:00:00Z"),
            ("2024-02-29t23:59:59.999999z", "2024-02-29T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("1900-03-01T00:00:00Z", "1900-03-01T00:00:00Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
            ("2000-02-29T00:00:00+23:59", "2000-02-28T00:01:00Z"),
        ]
    )
    func reads(_ text: String, _ written: String) throws {
        let timestamp = try #require(Timestamp(text))
        #expect(timestamp.description == written)
        #expect(Timestamp(written) == timestamp)
    }

    @Test(
        "A time without an offset, a date that does not exist and other texts are refused",
        arguments: [
            "2026-03-01T12:00:00", "2026-03-01", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-04-00T00:00:00Z",
            "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z", "2026-03-01T12:00:60Z", "2026-03-01T12:00:00.Z",
            "2026-03-01T12:00:00.1234567Z", "2026-03-01T12:00:00+1", "2026-03-01T12:00:00+24:00",
            "2026-03-01T12:00:00+01:", "2026-03-01T12:00:00Zx", "2026-3-1T12:00:00Z", "", "now", "infinity",
        ]
    )
    func refuses(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Any day of 800 years is read back as it was written")
    func days() throws {
        var previous = try #require(Timestamp("1600-01-01T00:00:00Z"))
        // Each day, or each eighteenth, which come to the same end.
        let step = Trials.areLong ? 1 : 18
        for _ in 0..<292_194 / step {
            let next = previous.advanced(byMicroseconds: Int64(step) * 86_400_000_000)
            let text = next.description
            // An expectation for each day would take longer than all of the days.
            guard Timestamp(text) == next, previous.description < text else {
                Issue.record("\(text) is not read back, or not after \(previous)")
                return
            }
            previous = next
        }
        #expect(previous.description == "2400-01-01T00:00:00Z")
    }

    @Test("A sum beyond what can be held is the last moment that can")
    func saturates() {
        let last = Timestamp(microsecondsSince1970: .max)
        #expect(last.advanced(byMicroseconds: 1) == last)
        #expect(Timestamp(secondsSince1970: .max) == last)
        #expect(Timestamp(secondsSince1970: 1).microsecondsSince1970 == 1_000_000)
    }
}
