import Testing
import UpdatePolicy

@testable import PolicyStore

@Suite("Chart CSV")
struct ChartCSVTests {
    private func chart(_ axis: Chart.Axis, _ series: [Chart.Series], checks: [Int64] = []) -> Chart {
        Chart(
            name: "c", question: "?", answer: ".", shape: .lines, unit: .share, axis: axis, series: series,
            checks: checks
        )
    }

    @Test("The CSV of a chart has every digit, and nothing where nothing was counted")
    func numbers() {
        let times = [Timestamp(secondsSince1970: 0), Timestamp(secondsSince1970: 3_600)]
        let csv = chart(
            .time(times),
            [Chart.Series(name: "1.2", values: [1.0 / 3, nil]), Chart.Series(name: "others", values: [1e-7, 1])],
            checks: [12, 0]
        ).csv
        #expect(
            csv == "time,all_checks,1.2,others\r\n1970-01-01T00:00:00Z,12,0.3333333333333333,1e-07\r\n"
                + "1970-01-01T01:00:00Z,0,,1\r\n"
        )
        #expect(Double("0.3333333333333333") == 1.0 / 3 && Double("1e-07") == 1e-7)
        #expect(chart(.elapsed([0, 90_000_000]), []).csv == "elapsed_seconds\r\n0\r\n90\r\n")
        #expect(chart(.names([]), []).csv == "name\r\n")
    }

    @Test(
        "Names that a spreadsheet would read as something else are written as text",
        arguments: [
            ("a,b", #""a,b""#), (#"say "x""#, #""say ""x""""#), ("=1+1", "'=1+1"), ("-x 17", "'-x 17"), ("@a", "'@a"),
            ("+1", "'+1"), ("a\nb", "\"a\nb\""), ("\r=1", "\"'\r=1\""), ("=a,b", "\"'=a,b\""), ("US", "US"),
        ]
    )
    func names(name: String, cell: String) {
        let named = chart(.names([name]), [Chart.Series(name: name, values: [0.5])]).csv
        #expect(named == "name,\(cell)\r\n\(cell),0.5\r\n")
    }
}
