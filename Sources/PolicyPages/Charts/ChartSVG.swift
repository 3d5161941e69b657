// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import UpdatePolicy

/// A chart as an SVG image within a page.
///
/// It has classes and no styles, because the pages forbid styles in the markup; `charts.css` says how they look. Areas
/// differ in brightness and hatching, lines in dashes, and both have their name beside them, so that nothing hangs on
/// colour alone.
struct ChartSVG {
    private let chart: Chart
    private let places: ChartPlaces
    private let scale: ChartScale

    /// The image in its own units. A page scales it to the width that there is.
    private static let width = 560.0
    private static let height = 270.0
    private static let plot = (left: 62.0, top: 38.0, right: 458.0, bottom: 238.0)
    /// The least distance of two names beside the plot.
    private static let leastDistance = 18.0
    /// The room for a digit of the numbers of changes, which a phone shows larger.
    private static let digitWidth = 11.0
    /// The most characters of a name beside the plot.
    private static let mostCharacters = 8
    /// The most that such a name takes.
    private static let widestName = 102.0
    private static let barHeight = 12.0
    private static let rowHeight = 42.0

    /// Prepares a chart for drawing.
    init(_ chart: Chart) {
        self.chart = chart
        places = ChartPlaces(chart.axis)
        let greatest =
            switch chart.shape {
            case .lines: chart.series.flatMap(\.values).compactMap(\.self).max() ?? 0
            case .stackedAreas, .bars:
                (0..<chart.axis.count).map { index in
                    chart.series.reduce(0) { $0 + ($1.values[index] ?? 0) }
                }.max() ?? 0
            }
        scale = ChartScale(to: greatest, unit: chart.unit, isWhole: chart.shape != .lines)
    }

    /// The image, and below it what colours and numbers in it stand for: lists of series and of marks.
    ///
    /// There is no image where everything that was counted is nothing.
    var svg: String {
        [chart.isZero ? "" : image, chart.isEmpty || chart.isZero ? "" : legend, changes]
            .filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var image: String {
        let content =
            chart.isEmpty ? nothing : chart.shape == .bars ? bars : overTime
        let height =
            chart.isEmpty ? 60 : chart.shape == .bars ? Self.rowHeight * Double(chart.axis.count) + 26 : Self.height
        return """
            <svg class="chart \(palette)" role="img" viewBox="0 0 \(number(Self.width)) \(number(height))" \
            aria-labelledby="\(chart.name)-title \(chart.name)-desc" xmlns="http://www.w3.org/2000/svg">
            <title id="\(chart.name)-title">\(chart.question.markup())</title>
            <desc id="\(chart.name)-desc">\(chart.answer.markup())</desc>
            \(content)
            </svg>
            """
    }

    private var legend: String {
        var items: [(swatch: String, name: String)] = []
        if chart.series.count > 1 {
            items = chart.series.enumerated().map { (swatch($0), "<bdi>\($1.name.markup())</bdi>") }
        }
        if chart.shape != .bars, !gaps.isEmpty {
            let swatch = "<rect class=\"gap\" width=\"24\" height=\"12\" fill=\"url(#\(chart.name)-gap)\"/>"
            items.append((swatch, "nothing was counted"))
        }
        guard !items.isEmpty else { return "" }
        let list = items.map { swatch, name in
            "<li><svg class=\"swatch\" viewBox=\"0 0 24 12\" aria-hidden=\"true\">\(swatch)</svg> \(name)</li>"
        }
        return "<ul class=\"chart-legend \(palette)\">\(list.joined())</ul>"
    }

    /// What the marks stand for.
    private var changes: String {
        guard !chart.marks.isEmpty else { return "" }
        let items = chart.marks.map { mark in
            """
            <li>change \(mark.change), <time datetime="\(mark.at)">\(NumberText.minute(mark.at))</time>: \
            <bdi>\(mark.label.markup())</bdi></li>
            """
        }
        return "<ul class=\"chart-marks\">\(items.joined())</ul>"
    }

    /// Few series differ in hue; many, which are in order, in brightness.
    private var palette: String { chart.series.count > 2 ? "chart-many" : "chart-few" }

    private func swatch(_ index: Int) -> String {
        chart.shape == .lines
            ? "<path class=\"line \(color(index))\" d=\"M0 6H24\"/>"
            : "<rect class=\"area\" width=\"24\" height=\"12\" fill=\"url(#\(pattern(index)))\"/>"
    }

    private var nothing: String {
        "<text class=\"caption\" x=\"280\" y=\"34\" text-anchor=\"middle\">nothing was counted</text>"
    }

    // MARK: - Over time

    private var overTime: String {
        [
            patterns, caption, gaps, grid, chart.shape == .lines ? lines : areas, placeTicks, marks, names,
        ].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var caption: String {
        let unit = chart.unit == .share ? "share of checks" : "checks"
        let text = [unit, places.step].compactMap(\.self).joined(separator: " ")
        return "<text class=\"caption\" x=\"0\" y=\"14\">\(text.markup())</text>"
    }

    private func x(_ edge: Double) -> Double { Self.plot.left + edge * (Self.plot.right - Self.plot.left) }

    private func y(_ value: Double) -> Double {
        Self.plot.bottom - value / scale.end * (Self.plot.bottom - Self.plot.top)
    }

    private var grid: String {
        scale.ticks.map { tick in
            let height = number(y(tick))
            return """
                <path class="\(tick == 0 ? "axis" : "grid")" d="M\(number(Self.plot.left)) \(height)H\(number(Self.plot.right))"/>\
                <text class="tick" x="\(number(Self.plot.left - 6))" y="\(height)" dy="0.35em" \
                text-anchor="end">\(scale.label(tick).markup())</text>
                """
        }.joined(separator: "\n")
    }

    /// The ticks of time. Where there is little room every other one is left out.
    private var placeTicks: String {
        places.ticks.enumerated().map { index, tick in
            let position = x(tick.at)
            let isMinor = (places.ticks.count - 1 - index) % 2 == 1
            return """
                <path class="axis" d="M\(number(position)) \(number(Self.plot.bottom))v4"/>\
                <text class="tick\(isMinor ? " minor" : "")" x="\(number(position))" y="\(number(Self.plot.bottom + 22))" \
                text-anchor="middle">\(tick.label.markup())</text>
                """
        }.joined(separator: "\n")
    }

    /// The places of a run without gaps, one run after the other.
    private func runs(where isIncluded: (Int) -> Bool) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for index in 0..<chart.axis.count where isIncluded(index) {
            if let last = runs.last, last.upperBound == index {
                runs[runs.count - 1] = last.lowerBound..<(index + 1)
            } else {
                runs.append(index..<(index + 1))
            }
        }
        return runs
    }

    private func isCounted(_ index: Int) -> Bool { chart.series.contains { $0.values[index] != nil } }

    /// What lies between values, so that nothing counted does not look like a count of nothing.
    private var gaps: String {
        runs { !isCounted($0) }.map { run in
            let (from, to) = (x(places.edges[run.lowerBound]), x(places.edges[run.upperBound]))
            return """
                <rect class="gap" x="\(number(from))" y="\(number(Self.plot.top))" width="\(number(to - from))" \
                height="\(number(Self.plot.bottom - Self.plot.top))" fill="url(#\(chart.name)-gap)">\
                <title>nothing was counted</title></rect>
                """
        }.joined(separator: "\n")
    }

    /// Each series upon the ones before it.
    private var areas: String {
        var below = [Double](repeating: 0, count: chart.axis.count)
        return chart.series.enumerated().map { index, series in
            let above = zip(below, series.values).map { $0 + ($1 ?? 0) }
            let path = runs { isCounted($0) }.map { run in
                stairs(run, above) + "L" + stairs(run, below, backwards: true).dropFirst() + "Z"
            }.joined()
            below = above
            return """
                <path class="area" fill="url(#\(pattern(index)))" d="\(path)"><title>\(series.name.markup())</title></path>
                """
        }.joined(separator: "\n")
    }

    private var lines: String {
        chart.series.enumerated().map { index, series in
            let path = runs { series.values[$0] != nil }.map { stairs($0, series.values.map { $0 ?? 0 }) }.joined()
            return "<path class=\"line \(color(index))\" d=\"\(path)\"><title>\(series.name.markup())</title></path>"
        }.joined(separator: "\n")
    }

    /// The upper edge of values that each hold until the next one begins.
    private func stairs(_ run: Range<Int>, _ values: [Double], backwards: Bool = false) -> String {
        var path = ""
        var last: String?
        for index in backwards ? Array(run.reversed()) : Array(run) {
            let edges = (x(places.edges[index]), x(places.edges[index + 1]))
            let height = number(y(values[index]))
            if path.isEmpty { path = "M\(number(backwards ? edges.1 : edges.0)) \(height)" }
            if let last, last != height { path += "V\(height)" }
            last = height
            path += "H\(number(backwards ? edges.0 : edges.1))"
        }
        return path
    }

    /// The names of series at their last values, those of the greatest first, as far as there is room. Lines may end
    /// before the axis does; areas have their names at its end.
    private var names: String {
        guard let end = (0..<chart.axis.count).last(where: isCounted) else { return "" }
        var sum = 0.0
        let wanted = chart.series.compactMap { series -> (name: String, x: Double, y: Double, size: Double)? in
            if chart.shape == .lines {
                guard let last = series.values.lastIndex(where: { $0 != nil }), let value = series.values[last] else {
                    return nil
                }
                return (series.name, x(places.edges[last + 1]), y(value), value)
            }
            guard let value = series.values[end], value > 0 else { return nil }
            sum += value
            return (series.name, Self.plot.right, y(sum - value / 2), value)
        }
        var taken: [(x: Double, y: Double)] = []
        return wanted.sorted { $1.size < $0.size }.compactMap { name, x, y, _ -> String? in
            let isFree = taken.allSatisfy { abs($0.y - y) >= Self.leastDistance || abs($0.x - x) >= Self.widestName }
            guard isFree else { return nil }
            taken.append((x, y))
            let short =
                name.count <= Self.mostCharacters ? name : name.prefix(Self.mostCharacters - 1) + "…"
            return """
                <text class="name" x="\(number(x + 6))" y="\(number(y))" dy="0.35em">\(short.markup())</text>
                """
        }.joined(separator: "\n")
    }

    /// A line for each mark, with the number of its change where there is room.
    private var marks: String {
        var free = -Double.infinity
        return chart.marks.map { mark in
            let position = x(places.position(of: mark.at))
            let half = Double("\(mark.change)".count) * Self.digitWidth / 2
            var text = ""
            if position - half >= free {
                free = position + half + Self.digitWidth
                text = """
                    <text class="mark-number" x="\(number(position))" y="\(number(Self.plot.top - 5))" \
                    text-anchor="middle">\(mark.change)</text>
                    """
            }
            return """
                <g><title>change \(mark.change), \(NumberText.minute(mark.at)): \(mark.label.markup())</title>\
                <path class="mark" d="M\(number(position)) \(number(Self.plot.top - 2))V\(number(Self.plot.bottom))"/>\(text)</g>
                """
        }.joined(separator: "\n")
    }

    // MARK: - Bars

    private var bars: String {
        guard case .names(let names) = chart.axis else { return "" }
        let rows = names.indices.map { row in
            let top = Double(row) * Self.rowHeight
            let values = chart.series.map { $0.values[row] }
            var from = 0.0
            let parts = values.enumerated().compactMap { index, value -> String? in
                guard let value, value > 0 else { return nil }
                defer { from += value }
                return """
                    <rect class="area" x="\(number(across(from)))" y="\(number(top + 22))" \
                    width="\(number(across(from + value) - across(from)))" height="\(number(Self.barHeight))" \
                    fill="url(#\(pattern(index)))"><title>\(chart.series[index].name.markup())</title></rect>
                    """
            }
            let texts = values.map { value in value.map(chart.text) ?? "none" }
            return """
                <text class="name" x="0" y="\(number(top + 16))">\(NumberText.sentence(names[row]).markup())</text>\
                <text class="value" x="\(number(Self.width))" y="\(number(top + 16))" text-anchor="end">\
                \(texts.joined(separator: " + ").markup())</text>\
                <rect class="track" x="0" y="\(number(top + 22))" width="\(number(Self.width))" height="\(number(Self.barHeight))"/>\
                \(parts.joined())
                """
        }
        let bottom = Self.rowHeight * Double(names.count)
        let ticks = scale.ticks.enumerated().map { index, tick in
            let anchor = index == 0 ? "start" : index == scale.ticks.count - 1 ? "end" : "middle"
            return """
                <path class="axis" d="M\(number(min(across(tick), Self.width - 0.5))) \(number(bottom - 4))v4"/>\
                <text class="tick\(index % 2 == 1 ? " minor" : "")" x="\(number(across(tick)))" y="\(number(bottom + 16))" \
                text-anchor="\(anchor)">\(scale.label(tick).markup())</text>
                """
        }
        return ([patterns] + rows + ticks).joined(separator: "\n")
    }

    private func across(_ value: Double) -> Double { value / scale.end * Self.width }

    // MARK: - Patterns

    private func pattern(_ index: Int) -> String { "\(chart.name)-fill-\(index)" }

    /// The class of a series: lockouts and what is taken together have one of their own.
    private func color(_ index: Int) -> String {
        let name = chart.series[index].name
        return name == Chart.lockout || name == Chart.others ? name : "s\(index)"
    }

    /// A filling for each series: a colour, and for every other one a hatching of its own upon it.
    private var patterns: String {
        let hatchings = ["M0 3H6", "M3 0V6", "M0 3H6M3 0V6"]
        let filled = chart.shape == .lines ? 0..<0 : chart.series.indices
        let series = filled.map { index -> String in
            let color = color(index)
            let isOthers = color == Chart.others
            let hatching =
                isOthers
                ? "<circle class=\"dot\" cx=\"3\" cy=\"3\" r=\"0.9\"/>"
                : index % 2 == 1 || color == Chart.lockout
                    ? "<path class=\"hatch\" d=\"\(hatchings[index / 2 % hatchings.count])\"/>"
                    : ""
            return """
                <pattern id="\(pattern(index))" width="6" height="6" patternUnits="userSpaceOnUse"\
                \(isOthers ? "" : " patternTransform=\"rotate(45)\"")><rect class="fill \(color)" \
                width="6" height="6"/>\(hatching)</pattern>
                """
        }
        let gap = """
            <pattern id="\(chart.name)-gap" width="8" height="8" patternUnits="userSpaceOnUse" \
            patternTransform="rotate(-45)"><path class="gap-line" d="M0 4H8"/></pattern>
            """
        return "<defs>\((series + [gap]).joined())</defs>"
    }

    /// A length with one decimal, and none that is zero.
    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0
            ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
