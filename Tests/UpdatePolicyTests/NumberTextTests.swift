import Testing
import UpdatePolicy

@Suite("Number text")
struct NumberTextTests {
    @Test("Counts and shares never make something look like nothing")
    func shares() {
        #expect(NumberText.count(0) == "0")
        #expect(NumberText.count(1_234_567) == "1,234,567")
        #expect(NumberText.percent(0, of: 10) == "0.0 %")
        #expect(NumberText.percent(1, of: 10_000_000) == "<0.1 %")
        #expect(NumberText.percent(9_999_999, of: 10_000_000) == ">99.9 %")
        #expect(NumberText.percent(1, of: 3) == "33.3 %")
        #expect(NumberText.percent(5, of: 5) == "100.0 %")
        #expect(NumberText.percent(5, of: 0) == "-")
        #expect(NumberText.share(2, of: 7) == "2 of 7")
        #expect(NumberText.share(2, of: 40) == "5.0 %")
    }

    @Test("Times are in UTC, and durations in their two largest units")
    func times() throws {
        let time = try #require(Timestamp("2026-11-22T15:05:59+01:00"))
        #expect(NumberText.minute(time) == "2026-11-22 14:05 UTC")
        #expect(NumberText.date(time) == "2026-11-22")
        #expect(NumberText.timeOfDay(time) == "14:05")
        let durations: [(Int64, String)] = [
            (0, "0 s"), (40, "40 s"), (5_400, "1 h 30 min"), (190_800, "2 d 5 h"), (800 * 86_400, "2 y"),
        ]
        for (seconds, text) in durations { #expect(NumberText.duration(microseconds: seconds * 1_000_000) == text) }
    }

    @Test("What would steer a terminal or turn the direction of text is written out")
    func visible() {
        #expect("a\u{1B}[31m\u{202E}b\u{0}\n".visible() == #"a\u{1b}[31m\u{202e}b\u{0}\n"#)
        #expect("a\nb".visible(keepsNewlines: true) == "a\nb")
        #expect("ä 日本 👩‍👩‍👧".visible() == "ä 日本 👩‍👩‍👧")
    }
}
