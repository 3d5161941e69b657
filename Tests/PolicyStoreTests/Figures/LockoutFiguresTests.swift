// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Lockout figures")
struct LockoutFiguresTests {
    private let period = CountPeriod(days: 1, at: Timestamp(secondsSince1970: 1_795_000_000))

    /// Figures of 22 hours with the same counts, and of two more.
    private func figures(_ before: (Int64, Int64), _ now: (Int64, Int64)) -> LockoutFigures {
        let totals = [(before, 22), (now, 2)].flatMap { counts, hours in
            Array(
                repeating: counts.0 == 0 ? nil : CheckTotals(checks: counts.0, messages: counts.1, lockouts: counts.1),
                count: hours
            )
        }
        return LockoutFigures(period, totals, [])
    }

    @Test("A share that rose by a percentage point is news, and says what it was before")
    func rises() {
        let risen = figures((1_000, 10), (1_000, 110))
        #expect(risen.hasRisen)
        #expect(risen.summary == "11.0 % of the checks are locked out, 1.0 % in the 22 hours before")
        #expect(risen.chart.series.map(\.name) == [Chart.lockout])
        #expect(risen.chart.answer.contains("; 11.0 % in the last two hours, 1.0 % in the 22 hours before."))
        #expect(figures((1_000, 10), (1_000, 20)).hasRisen, "a point, just")
        let first = figures((0, 0), (1_000, 110))
        #expect(first.summary == "11.0 % of the checks are locked out, nothing was counted in the 22 hours before")
    }

    @Test("A share that stays, falls, or comes of few checks is no news")
    func stays() {
        for (before, now) in [((1_000, 110), (1_000, 110)), ((1_000, 110), (1_000, 0)), ((1_000, 10), (1_000, 19))]
            as [((Int64, Int64), (Int64, Int64))]
        {
            let figures = figures(before, now)
            #expect(!figures.hasRisen)
            #expect(figures.summary.hasSuffix(" of the checks are locked out."), "\(figures.summary)")
            #expect(figures.chart.series.map(\.name) == ["locked out"])
        }
        #expect(!figures((1_000, 0), (2, 2)).hasRisen)
    }

    @Test("Hours without a check are said to have none")
    func isSilent() {
        let never = figures((0, 0), (0, 0))
        #expect(never.summary == "No app asked in the last 24 hours.")
        #expect(never.chart.isEmpty)
        let stopped = figures((1_000, 10), (0, 0))
        #expect(stopped.summary == "No app asked in the last two hours.")
        #expect(!stopped.hasRisen)
        #expect(stopped.chart.answer == "1.0 % of the 22,000 checks of the last 24 hours.")
    }
}
