import Foundation
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyPages
@testable import PolicyStore

@Suite("Chart image")
struct ChartImageTests {
    private static let hostile = HostileTexts.all + ["\u{FFFE}\u{FFFF}", "e\u{301}🎉"]

    /// A chart at random: any shape and axis, gaps, nothing at all, one place, a year of days.
    static func chart(_ random: inout SeededGenerator) -> Chart {
        let shape = random.pick([Chart.Shape.stackedAreas, .lines, .bars])
        let unit = random.pick([Chart.Unit.share, .checks])
        let count = random.pick([0, 1, 2, 7, 24, 31, 91, 366])
        let hour: Int64 = 3_600_000_000
        let step = random.chance(50) ? hour : 24 * hour
        let first = Int64.random(in: 20_000...20_400, using: &random) * 24 * hour
        let axis: Chart.Axis =
            shape == .bars
            ? .names((0..<min(count, 14)).map { random.chance(20) ? random.pick(hostile) : "iOS \($0)" })
            : random.chance(70)
                ? .time((0..<count).map { Timestamp(microsecondsSince1970: first + Int64($0) * step) })
                : .elapsed((0..<count).map { Int64($0) * step })
        let most = shape == .lines ? 2 : 8
        let series = (0..<Int.random(in: 0...most, using: &random)).map { index in
            Chart.Series(
                name: random.chance(30) ? random.pick(hostile) : index == 7 ? Chart.others : "1.\(index)",
                values: (0..<axis.count).map { _ in
                    random.chance(20)
                        ? nil
                        : random.chance(10)
                            ? 0
                            : Double.random(in: 0...(0.9 / Double(most)), using: &random)
                                * (unit == .share ? 1 : random.pick([10, 1e3, 1e7]))
                }
            )
        }
        var marks: [Chart.Mark] = []
        if case .time(let times) = axis, let first = times.first {
            marks = (0..<Int.random(in: 0...20, using: &random)).map { index in
                Chart.Mark(
                    at: first.advanced(byMicroseconds: Int64(index) * step),
                    change: .random(in: 1...1_000_000, using: &random), label: Sentence(random.pick(hostile))
                )
            }
        }
        return Chart(
            name: "chart-\(Int.random(in: 0...9, using: &random))",
            question: random.pick(hostile + ["Which versions are in use?"]),
            answer: random.pick(hostile),
            shape: shape,
            unit: unit,
            axis: axis,
            series: series,
            checks: unit == .share && random.chance(50)
                ? (0..<axis.count).map { _ in Int64.random(in: 0...9, using: &random) } : [],
            marks: marks
        )
    }

    @Test("Whatever a chart is made of, its image and legend are well-formed, and nothing in them runs or has a style")
    func wellFormed() throws {
        var random = SeededGenerator()
        let css = try String(contentsOf: RepositoryFile.url("Sources/PolicyPages/Assets/charts.css"), encoding: .utf8)
        let elements: Set = [
            "figure", "figcaption", "h3", "p", "svg", "title", "desc", "defs", "pattern", "path", "rect", "circle",
            "text",
            "g", "ul", "li", "time", "bdi", "details", "summary", "div", "table", "caption", "thead", "tbody", "tr",
            "th",
            "td", "data", "a",
        ]
        let unstyled: Set = [
            "answer", "empty", "meta", "scroll", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "chart-many", "name",
            "gap",
        ]
        for _ in 0..<Trials.count(1_000) {
            let chart = Self.chart(&random)
            let document = try chart.markup()
            #expect(Set(document.elements.map(\.name)).isSubset(of: elements), "seed \(random.seed)")
            let attributes = document.elements.flatMap(\.attributes.keys)
            #expect(!attributes.contains { $0 == "style" || $0.hasPrefix("on") }, "seed \(random.seed)")
            let ids = document.elements.compactMap { $0.attributes["id"] }
            #expect(Set(ids).count == ids.count && ids.allSatisfy { $0.contains(chart.name) }, "seed \(random.seed)")
            for name in Set(document.elements.flatMap { ($0.attributes["class"] ?? "").split(separator: " ") }) {
                #expect(unstyled.contains(String(name)) || css.contains(".\(name)"), "no style for \(name)")
            }
            for fill in document.elements.compactMap({ $0.attributes["fill"] }) {
                #expect(ids.contains(String(fill.dropFirst("url(#".count).dropLast())), "seed \(random.seed)")
            }
            let all = chart.html
            #expect(all.unicodeScalars.allSatisfy { $0 == "\n" || !$0.steersTerminal }, "seed \(random.seed)")
            #expect(!all.contains("nan") && !all.contains("inf"), "seed \(random.seed)")
            guard !chart.isZero, !chart.isEmpty else {
                #expect(!document.elements.contains { $0.name == "svg" }, "seed \(random.seed)")
                continue
            }
            let image = try #require(document.elements.firstIndex { $0.name == "svg" })
            let described = document.elements[image].attributes["aria-labelledby"] ?? ""
            #expect(described.split(separator: " ").allSatisfy { ids.contains(String($0)) })
            #expect(document.elements[image + 1].text == visible(chart.question), "seed \(random.seed)")
            #expect(document.elements[image + 2].text == visible(chart.answer), "seed \(random.seed)")
        }
    }

    /// As the markup writes out what cannot be shown.
    private func visible(_ text: String) -> String {
        text.visible().replacing("\u{FFFE}", with: "\\u{fffe}").replacing("\u{FFFF}", with: "\\u{ffff}")
    }

    @Test("Every value of lines and areas is drawn at its place and height, and gaps are left")
    func values() throws {
        var random = SeededGenerator()
        for _ in 0..<Trials.count(1_000) {
            let chart = Self.chart(&random)
            guard chart.shape != .bars, !chart.isEmpty, !chart.isZero else { continue }
            let elements = try chart.markup().image
            let paths = elements.filter { chart.shape == .lines ? $0.has("line") : $0.has("area") }
                .map { Path($0.attributes["d"] ?? "") }
            try #require(paths.count == chart.series.count)
            let scale = ChartScale(to: greatest(chart), unit: chart.unit, isWhole: chart.shape != .lines)
            let places = ChartPlaces(chart.axis)
            var below = [Double](repeating: 0, count: chart.axis.count)
            for (series, path) in zip(chart.series, paths) {
                for index in 0..<chart.axis.count {
                    let x = 62 + (places.edges[index] + places.edges[index + 1]) / 2 * 396
                    let heights = path.heights(at: x)
                    let isDrawn =
                        chart.shape == .lines
                        ? series.values[index] != nil : chart.series.contains { $0.values[index] != nil }
                    // Places that are narrower than the digits of a path cannot be told apart.
                    guard places.edges[index + 1] - places.edges[index] > 0.002 else { continue }
                    #expect(heights.isEmpty == !isDrawn, "seed \(random.seed)")
                    guard isDrawn else { continue }
                    let value = series.values[index] ?? 0
                    let top = 238 - (below[index] + value) / scale.end * 200
                    #expect(heights.contains { abs($0 - top) < 0.11 }, "seed \(random.seed)")
                    if chart.shape == .stackedAreas {
                        let bottom = 238 - below[index] / scale.end * 200
                        #expect(heights.contains { abs($0 - bottom) < 0.11 }, "seed \(random.seed)")
                        below[index] += value
                    }
                }
            }
        }
    }

    private func greatest(_ chart: Chart) -> Double {
        chart.shape == .lines
            ? chart.series.flatMap(\.values).compactMap(\.self).max() ?? 0
            : (0..<chart.axis.count).map { index in chart.series.reduce(0) { $0 + ($1.values[index] ?? 0) } }.max() ?? 0
    }

    @Test("Bars are as long as their values, one behind the other, with the values in words")
    func bars() throws {
        let chart = Chart(
            name: "reach",
            question: "?",
            answer: ".",
            shape: .bars,
            unit: .share,
            axis: .names(["now", "later"]),
            series: [
                Chart.Series(name: Chart.lockout, values: [0.25, nil]),
                Chart.Series(name: "message alone", values: [0.5, 0.125]),
            ]
        )
        let elements = try chart.markup().image
        let bars = elements.filter { $0.has("area") }
        #expect(bars.map { $0.attributes["x"] } == ["0", "140", "0"])
        #expect(bars.map { $0.attributes["width"] } == ["140", "280", "70"])
        #expect(elements.filter { $0.has("value") }.map(\.text) == ["25.0 % + 50.0 %", "none + 12.5 %"])
        #expect(elements.filter { $0.has("track") }.count == 2)
    }

    @Test("A chart without numbers has its question and its answer, and no image, legend or table")
    func empty() throws {
        for axis in [Chart.Axis.time([]), .names([]), .time([Timestamp(secondsSince1970: 0)])] {
            let chart = Chart(
                name: "c", question: "?", answer: "Nothing was counted.", shape: .lines, unit: .share, axis: axis,
                series: [Chart.Series(name: "a", values: (0..<axis.count).map { _ in nil })]
            )
            let elements = try chart.markup().elements
            #expect(Set(elements.map(\.name)) == ["figure", "figcaption", "h3", "p"])
            #expect(elements.contains { $0.has("answer") && $0.text == chart.answer })
        }
    }

    @Test("All colours of charts are there for light and for dark")
    func colours() throws {
        let css = try String(contentsOf: RepositoryFile.url("Sources/PolicyPages/Assets/charts.css"), encoding: .utf8)
        let blocks = css.matches(of: #/:root \{(?<body>[^}]*)\}/#).map { block in
            Set(block.output.body.matches(of: #/(--chart-[a-z0-9]+):/#).map { String($0.output.1) })
        }
        try #require(blocks.count == 2)
        #expect(blocks[0] == blocks[1])
        let used = Set(css.matches(of: #/var\((--chart-[a-z0-9]+)\)/#).map { String($0.output.1) })
        #expect(used == blocks[0])
    }
}
