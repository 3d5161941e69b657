import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Lockout figures")
struct LockoutFiguresTests {
    private let period = CountPeriod(days: 1, at: Timestamp(secondsSince1970: 1_795_000_000))

    /// Figures of 22 hours with the same counts, and of two more.
    private func figures(_ before: (Int64, Int64), _ now: (Int64, Int64)) -> Chart {
        let totals = [(before, 22), (now, 2)].flatMap { counts, hours in
            Array(
                repeating: counts.0 == 0 ? nil : CheckTotals(checks: counts.0, messages: counts.1, lockouts: counts.1),
                count: hours
            )
        }
        return LockoutFigures.chart("lockouts", period, totals, [])
    }

    @Test("The share of the last 24 hours is named with its length, and is never red: it is over")
    func tellsTheDay() {
        let figures = figures((1_000, 10), (1_000, 110))
        #expect(figures.answer == "1.8 % of the 24,000 checks of the last 24 hours.")
        #expect(figures.series.map(\.name) == ["locked out"])
    }

    @Test("Hours without a check are said to have none")
    func isSilent() {
        #expect(figures((0, 0), (0, 0)).isEmpty)
        #expect(figures((1_000, 10), (0, 0)).answer == "1.0 % of the 22,000 checks of the last 24 hours.")
    }
}
