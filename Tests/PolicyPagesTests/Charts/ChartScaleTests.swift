import PolicyStore
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyPages

@Suite("Chart scale")
struct ChartScaleTests {
    @Test(
        "The ticks of a scale are round numbers up to the greatest value",
        arguments: [
            (0, Chart.Unit.checks, false, ["0", "1"]), (1, .checks, false, ["0", "1"]),
            (3, .checks, true, ["0", "1", "2", "3"]), (7, .checks, true, ["0", "2", "4", "6", "8"]),
            (1_234, .checks, true, ["0", "250", "500", "750", "1 k", "1.25 k"]),
            (9_000_000, .checks, true, ["0", "2 M", "4 M", "6 M", "8 M", "10 M"]),
            (0.2, .share, true, ["0 %", "25 %", "50 %", "75 %", "100 %"]),
            (0.6, .share, false, ["0 %", "25 %", "50 %", "75 %", "100 %"]),
            (0.12, .share, false, ["0 %", "2.5 %", "5 %", "7.5 %", "10 %", "12.5 %"]),
            (0.004, .share, false, ["0 %", "0.1 %", "0.2 %", "0.3 %", "0.4 %"]),
            (0, .share, false, ["0 %", "0.1 %"]),
        ]
    )
    func ticks(greatest: Double, unit: Chart.Unit, isWhole: Bool, labels: [String]) {
        let scale = ChartScale(to: greatest, unit: unit, isWhole: isWhole)
        #expect(scale.ticks.map(scale.label) == labels)
    }

    @Test("A scale holds every value, with two to six ticks that differ")
    func holdsAll() {
        var random = SeededGenerator()
        for _ in 0..<1_000 {
            let unit = random.pick([Chart.Unit.share, .checks])
            let greatest =
                unit == .share
                ? Double.random(in: 0...1, using: &random)
                : Double(Int.random(in: 0...random.pick([10, 1_000, 1_000_000_000]), using: &random))
            let scale = ChartScale(to: greatest, unit: unit, isWhole: random.chance(50))
            #expect(scale.end >= greatest - 1e-9, "\(greatest), seed \(random.seed)")
            #expect((2...6).contains(scale.ticks.count), "\(greatest), seed \(random.seed)")
            #expect(scale.ticks.last == scale.end && scale.ticks.first == 0)
            #expect(Set(scale.ticks.map(scale.label)).count == scale.ticks.count, "\(greatest), seed \(random.seed)")
        }
    }

    @Test(
        "The ticks of time are round: hours of the day, days, weeks, first days of months",
        arguments: [
            (hours: 1, count: 24, end: "2026-11-22T11:00:00Z", labels: ["12:00", "18:00", "11-22", "06:00"]),
            (
                hours: 1, count: 3, end: "2026-11-22T11:00:00Z",
                labels: ["09:00", "10:00", "11:00"]
            ),
            (24, 8, "2026-11-22T00:00:00Z", ["11-16", "11-18", "11-20", "11-22"]),
            (24, 31, "2026-11-22T00:00:00Z", ["10-25", "11-01", "11-08", "11-15", "11-22"]),
            (24, 91, "2026-11-22T00:00:00Z", ["2026-09", "2026-10", "2026-11"]),
            (24, 366, "2026-11-22T00:00:00Z", ["2025-12", "2026-02", "2026-04", "2026-06", "2026-08", "2026-10"]),
        ]
    )
    func places(hours: Int, count: Int, end: String, labels: [String]) throws {
        let last = try #require(Timestamp(end))
        let times = (1 - count...0).map { last.advanced(byMicroseconds: Int64($0 * hours) * 3_600_000_000) }
        #expect(ChartPlaces(.time(times)).ticks.map { $0.label } == labels)
    }

    @Test("The ticks of the time since a release are days and half days")
    func elapsedPlaces() {
        let live = Chart.Axis.elapsed((0..<48).map { Int64($0) * 3_600_000_000 })
        #expect(ChartPlaces(live).ticks.map { $0.label } == ["0 d", "12 h", "1 d", "36 h", "2 d"])
    }

    @Test("Places begin where the one before ends, from the left to the right, and ticks lie among them")
    func edges() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let axis = ChartImageTests.chart(&random).axis
            let places = ChartPlaces(axis)
            guard axis.count > 0 else { continue }
            #expect(places.edges.count == axis.count + 1)
            #expect(places.edges.first == 0 && places.edges.last == 1)
            #expect(zip(places.edges, places.edges.dropFirst()).allSatisfy { $0 < $1 })
            #expect(
                places.ticks.count <= 7 && places.ticks.allSatisfy { (0...1).contains($0.at) },
                "seed \(random.seed)"
            )
        }
    }
}
