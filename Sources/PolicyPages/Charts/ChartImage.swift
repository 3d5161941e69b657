import PolicyStore
import UpdatePolicy

extension Chart {
    /// The chart on a page, for the template `chart`: its question and answer, an image, and the same numbers as a table.
    ///
    /// - Parameters:
    ///   - path: That of the page.
    ///   - period: The time that it covers; nil: it covers one time alone.
    func view(of path: String, _ period: PagePeriod?) -> JSONValue {
        let edits = "\(marks.count) \(marks.count == 1 ? "edit" : "edits") meanwhile"
        return [
            "name": name, "question": question, "answer": answer, "isEmpty": isEmpty,
            "image": isEmpty || isZero ? nil : ChartImage(self).view, "events": marks.map(\.view),
            "eventCount": marks.isEmpty ? nil : edits, "head": head.map(\.text), "isOverTime": isOverTime,
            "rows": isEmpty ? nil : rows.map(Self.row),
            "csv": "\(path)/\(name).csv\(period.map { "?days=\($0.days)" } ?? "")",
        ]
    }

    private static func row(_ cells: [Cell?]) -> JSONValue {
        let views = cells.map { cell -> JSONValue in ["digits": cell?.digits, "text": cell?.text] }
        return ["place": views.first, "cells": Array(views.dropFirst())]
    }

    private var isOverTime: Bool {
        if case .time = axis { true } else { false }
    }
}

extension Chart.Mark {
    fileprivate var view: JSONValue {
        [
            "change": change, "address": Subject.change(change).address, "at": at, "minute": NumberText.minute(at),
            "label": label.text(at: nil, time: NumberText.minute),
        ]
    }
}

/// Where the parts of a chart's image are, for the template `image`, in units that a page scales to the width there is.
///
/// Areas differ in brightness and hatching, lines in dashes, and both have their name beside them, so that nothing hangs on
/// colour alone.
struct ChartImage {
    private let chart: Chart
    private let places: ChartPlaces
    private let scale: ChartScale

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
    private static let rowHeight = 42.0

    /// Prepares the image of a chart that has numbers.
    init(_ chart: Chart) {
        self.chart = chart
        places = ChartPlaces(chart.axis)
        let greatest =
            switch chart.shape {
            case .lines: chart.series.flatMap(\.values).compactMap(\.self).max() ?? 0
            case .stackedAreas, .bars:
                (0..<chart.axis.count).map { index in chart.series.reduce(0) { $0 + ($1.values[index] ?? 0) } }.max()
                    ?? 0
            }
        scale = ChartScale(to: greatest, unit: chart.unit, isWhole: chart.shape != .lines)
    }

    /// All of it. Colours, hatchings and fonts are those of `charts.css`.
    var view: JSONValue {
        let isOfBars = chart.shape == .bars
        let hasGaps = !isOfBars && !gaps.isEmpty
        let height = isOfBars ? Self.rowHeight * Double(chart.axis.count) + 26 : Self.height
        return [
            // Few series differ in hue; many, which are in order, in brightness.
            "palette": chart.series.count > 2 ? "chart-many" : "chart-few", "width": number(Self.width),
            "height": number(height), "series": chart.series.indices.map(series), "isOfLines": chart.shape == .lines,
            "hasNames": chart.series.count > 1, "overTime": isOfBars ? nil : overTime, "bars": isOfBars ? bars : nil,
            "hasGaps": hasGaps, "hasLegend": hasGaps || chart.series.count > 1,
        ]
    }

    /// How a series is drawn: a colour, and for every other one a hatching of its own upon it.
    private func series(_ index: Int) -> JSONValue {
        let hatchings = ["M0 3H6", "M3 0V6", "M0 3H6M3 0V6"]
        let name = chart.series[index].name
        let isOthers = name == Chart.others
        // Lockouts and what is taken together have a colour of their own.
        let color = isOthers || name == Chart.lockout ? name : "s\(index)"
        let isHatched = !isOthers && (index % 2 == 1 || name == Chart.lockout)
        return [
            "index": index, "label": name, "color": color, "isOthers": isOthers,
            "hatching": isHatched ? hatchings[index / 2 % hatchings.count] : nil,
            "path": chart.shape == .bars ? nil : path(index),
        ]
    }

    // MARK: - Over time

    private var overTime: JSONValue {
        let unit = chart.unit == .share ? "share of checks" : "checks"
        let ticks = places.ticks.enumerated().map { index, tick -> JSONValue in
            // Where there is little room every other one is left out.
            ["x": number(x(tick.at)), "label": tick.label, "isMinor": (places.ticks.count - 1 - index) % 2 == 1]
        }
        let levels = scale.ticks.map { tick -> JSONValue in
            ["y": number(y(tick)), "label": scale.label(tick), "isAxis": tick == 0]
        }
        return [
            "left": number(Self.plot.left), "top": number(Self.plot.top), "right": number(Self.plot.right),
            "bottom": number(Self.plot.bottom), "depth": number(Self.plot.bottom - Self.plot.top),
            "caption": [unit, places.step].compactMap(\.self).joined(separator: " "), "gaps": gaps, "levels": levels,
            "ticks": ticks, "marks": marks, "names": names,
        ]
    }

    private func x(_ edge: Double) -> Double { Self.plot.left + edge * (Self.plot.right - Self.plot.left) }

    private func y(_ value: Double) -> Double {
        Self.plot.bottom - value / scale.end * (Self.plot.bottom - Self.plot.top)
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
    private var gaps: [JSONValue] {
        runs { !isCounted($0) }.map { run in
            let (from, to) = (x(places.edges[run.lowerBound]), x(places.edges[run.upperBound]))
            return ["x": number(from), "width": number(to - from)]
        }
    }

    /// A line, or the area of a series upon the ones before it.
    private func path(_ index: Int) -> String {
        let values = chart.series[index].values
        if chart.shape == .lines {
            return runs { values[$0] != nil }.map { stairs($0, values.map { $0 ?? 0 }) }.joined()
        }
        let below: [Double] = (0..<chart.axis.count).map { place in
            chart.series[..<index].reduce(0) { $0 + ($1.values[place] ?? 0) }
        }
        let above = zip(below, values).map { $0 + ($1 ?? 0) }
        return runs(where: isCounted).map { run in
            stairs(run, above) + "L" + stairs(run, below, backwards: true).dropFirst() + "Z"
        }.joined()
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
    private var names: [JSONValue] {
        guard let end = (0..<chart.axis.count).last(where: isCounted) else { return [] }
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
        return wanted.sorted { $1.size < $0.size }.compactMap { name, x, y, _ in
            let isFree = taken.allSatisfy { abs($0.y - y) >= Self.leastDistance || abs($0.x - x) >= Self.widestName }
            guard isFree else { return nil }
            taken.append((x, y))
            let short = name.count <= Self.mostCharacters ? name : name.prefix(Self.mostCharacters - 1) + "…"
            return ["x": number(x), "y": number(y), "label": short]
        }
    }

    /// A line for each mark, with the number of its change where there is room.
    private var marks: [JSONValue] {
        var free = -Double.infinity
        return chart.marks.map { mark in
            let position = x(places.position(of: mark.at))
            let half = Double("\(mark.change)".count) * Self.digitWidth / 2
            let hasRoom = position - half >= free
            if hasRoom { free = position + half + Self.digitWidth }
            return [
                "x": number(position), "change": mark.change, "address": Subject.change(mark.change).address,
                "minute": NumberText.minute(mark.at), "label": mark.label.text(at: nil, time: NumberText.minute),
                "hasRoom": hasRoom,
            ]
        }
    }

    // MARK: - Bars

    private var bars: JSONValue? {
        guard case .names(let names) = chart.axis else { return nil }
        let rows = names.indices.map { row -> JSONValue in
            let values = chart.series.map { $0.values[row] }
            var from = 0.0
            let parts = values.enumerated().compactMap { index, value -> JSONValue? in
                guard let value, value > 0 else { return nil }
                defer { from += value }
                return [
                    "x": number(across(from)), "width": number(across(from + value) - across(from)), "index": index,
                    "label": chart.series[index].name,
                ]
            }
            return [
                "top": number(Double(row) * Self.rowHeight), "label": names[row], "parts": parts,
                "values": values.map { $0.map(chart.text) ?? "none" }.joined(separator: " + "),
            ]
        }
        let ticks = scale.ticks.enumerated().map { index, tick -> JSONValue in
            [
                "x": number(across(tick)), "line": number(min(across(tick), Self.width - 0.5)),
                "label": scale.label(tick), "isMinor": index % 2 == 1,
                "anchor": index == 0 ? "start" : index == scale.ticks.count - 1 ? "end" : "middle",
            ]
        }
        return ["rows": rows, "bottom": number(Self.rowHeight * Double(names.count)), "ticks": ticks]
    }

    private func across(_ value: Double) -> Double { value / scale.end * Self.width }

    /// A length with one decimal, and none that is zero.
    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0
            ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}
