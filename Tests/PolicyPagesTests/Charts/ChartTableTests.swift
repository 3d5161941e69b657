import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyPages
@testable import PolicyStore

@Suite("Chart table")
struct ChartTableTests {
    @Test("The table of a chart has each of its numbers with every digit, and names what they are")
    func numbers() throws {
        var random = SeededGenerator()
        for _ in 0..<Trials.count(1_000) {
            let chart = ChartImageTests.chart(&random)
            guard !chart.isEmpty else { continue }
            let elements = try chart.markup().table
            let cells = elements.filter { $0.name == "data" || $0.name == "td" && $0.text == "none" }
                .map { $0.attributes["value"].flatMap { Double($0) } }
            var expected: [Double?] = []
            for index in 0..<chart.axis.count {
                if !chart.checks.isEmpty { expected.append(Double(chart.checks[index])) }
                expected += chart.series.map { $0.values[index] }
            }
            #expect(cells == expected, "seed \(random.seed)")
            let headers = elements.filter { $0.name == "th" }.map { $0.attributes["scope"] }
            let columns = 1 + (chart.checks.isEmpty ? 0 : 1) + chart.series.count
            #expect(headers.filter { $0 == "col" }.count == columns, "seed \(random.seed)")
            #expect(headers.filter { $0 == "row" }.count == chart.axis.count, "seed \(random.seed)")
            #expect(elements.count { $0.name == "caption" } == 1)
        }
    }

    @Test("Times in a table are in UTC, with hours where the steps are hours")
    func times() throws {
        let start = try #require(Timestamp("2026-11-22T23:00:00Z"))
        func texts(_ step: Int64) throws -> [String] {
            let chart = Chart(
                name: "c", question: "?", answer: ".", shape: .lines, unit: .checks,
                axis: .time([start, start.advanced(byMicroseconds: step)]),
                series: [Chart.Series(name: "a", values: [12_345, nil])]
            )
            let elements = try chart.markup().table
            #expect(elements.filter { $0.name == "data" }.map(\.text) == ["12,345"])
            return elements.filter { $0.name == "time" }.map { "\($0.attributes["datetime"] ?? "") \($0.text)" }
        }
        #expect(
            try texts(3_600_000_000)
                == ["2026-11-22T23:00:00Z 2026-11-22 23:00", "2026-11-23T00:00:00Z 2026-11-23 00:00"]
        )
        #expect(try texts(86_400_000_000) == ["2026-11-22T23:00:00Z 2026-11-22", "2026-11-23T23:00:00Z 2026-11-23"])
    }
}
