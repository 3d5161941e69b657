import PolicyStore
import UpdatePolicy

extension Page {
    /// Charts of a page, nil where they are not known, and the days that they cover where those can be chosen.
    static func charts(_ charts: [Chart]?, of path: String, days: Int? = nil) -> JSONValue {
        let choices = PageQuestion.periods.map { period in
            link(
                period == 1 ? "1 day" : period == 365 ? "1 year" : "\(period) days", "\(path)?days=\(period)",
                isCurrent: period == days
            )
        }
        return [
            "period": days.map { _ in ["choices": choices] as JSONValue }, "isUnknown": charts == nil,
            "figures": charts?.map { $0.view(of: path, days: days) },
        ]
    }
}

extension Chart {
    /// The chart on a page, for the template `chart`: its question and answer, an image, and the same numbers as a table.
    func view(of path: String, days: Int? = nil) -> JSONValue {
        let image = ChartImage(self)
        let isOverTime = if case .time = axis { true } else { false }
        let rows = rows.map { cells -> JSONValue in
            let views = cells.map { cell -> JSONValue in ["digits": cell?.digits, "text": cell?.text] }
            return ["place": views.first, "cells": Array(views.dropFirst())]
        }
        return [
            "name": name, "question": question, "answer": answer, "isEmpty": isEmpty,
            "image": isEmpty || isZero ? nil : image.view, "marks": image.marks,
            "markCount": marks.isEmpty ? nil : "\(marks.count) \(marks.count == 1 ? "edit" : "edits") meanwhile",
            "head": head.map(\.text), "isOverTime": isOverTime, "rows": isEmpty ? nil : rows,
            "csv": "\(path)/\(name).csv\(days.map { "?days=\($0)" } ?? "")",
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
    /// For each series, and at the end for all of them, what the ones before it come to at each place.
    private let sums: [[Double]]

    private static let width = 560.0
    private static let plot = (left: 62.0, top: 38.0, right: 458.0, bottom: 238.0)
    private static let rowHeight = 42.0

    init(_ chart: Chart) {
        self.chart = chart
        places = ChartPlaces(chart.axis)
        sums = chart.series.reduce(into: [chart.axis.indices.map { _ in 0 }]) { sums, series in
            sums.append(zip(sums[sums.count - 1], series.values).map { $0 + ($1 ?? 0) })
        }
        let values = chart.shape == .lines ? chart.series.flatMap(\.values).compactMap(\.self) : sums[sums.count - 1]
        scale = ChartScale(to: values.max() ?? 0, unit: chart.unit, isWhole: chart.shape != .lines)
    }

    /// All of it but the marks. Colours, hatchings and fonts are those of `charts.css`.
    var view: JSONValue {
        let isOfBars = chart.shape == .bars
        let gaps = isOfBars ? [] : gaps
        return [
            // Few series differ in hue; many, which are in order, in brightness.
            "palette": chart.series.count > 2 ? "chart-many" : "chart-few", "width": number(Self.width),
            "height": number(isOfBars ? Self.rowHeight * Double(chart.axis.count) + 26 : 270),
            "series": chart.series.indices.map(series), "isOfLines": chart.shape == .lines,
            "hasNames": chart.series.count > 1, "overTime": isOfBars ? nil : overTime, "bars": isOfBars ? bars : nil,
            "gaps": gaps, "hasGaps": !gaps.isEmpty, "hasLegend": !gaps.isEmpty || chart.series.count > 1,
        ]
    }

    /// How a series is drawn: a colour, and for every other one a hatching of its own upon it.
    private func series(_ index: Int) -> JSONValue {
        let hatchings = ["M0 3H6", "M3 0V6", "M0 3H6M3 0V6"]
        let name = chart.series[index].name
        let isOthers = name == Chart.others
        let isHatched = !isOthers && (index % 2 == 1 || name == Chart.lockout)
        return [
            // Lockouts and what is taken together have a colour of their own.
            "index": index, "label": name, "color": isOthers || name == Chart.lockout ? name : "s\(index)",
            "isOthers": isOthers, "hatching": isHatched ? hatchings[index / 2 % hatchings.count] : nil,
            "path": chart.shape == .bars ? nil : path(index),
        ]
    }

    private var overTime: JSONValue {
        let unit = chart.unit == .share ? "share of checks" : "checks"
        let ticks = places.ticks.enumerated().map { index, tick -> JSONValue in
            // Where there is little room every other one is left out.
            ["x": number(x(tick.at)), "label": tick.label, "isMinor": (places.ticks.count - 1 - index) % 2 == 1]
        }
        let levels = scale.ticks.map { tick -> JSONValue in
            ["y": number(y(tick)), "label": scale.label(tick), "isAxis": tick == 0]
        }
        let plot = Self.plot
        return [
            "left": number(plot.left), "top": number(plot.top), "right": number(plot.right),
            "bottom": number(plot.bottom), "depth": number(plot.bottom - plot.top), "levels": levels, "ticks": ticks,
            "caption": [unit, places.step].compactMap(\.self).joined(separator: " "), "names": names,
        ]
    }

    private func x(_ edge: Double) -> Double { Self.plot.left + edge * (Self.plot.right - Self.plot.left) }

    private func y(_ value: Double) -> Double {
        Self.plot.bottom - value / scale.end * (Self.plot.bottom - Self.plot.top)
    }

    /// The places of a run without gaps, one run after the other.
    private func runs(where isIncluded: (Int) -> Bool) -> [Range<Int>] {
        chart.axis.indices.filter(isIncluded).reduce(into: []) { runs, index in
            let isNext = runs.last?.upperBound == index
            runs.append((isNext ? runs.removeLast().lowerBound : index)..<(index + 1))
        }
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
            return runs { values[$0] != nil }.map { "M" + stairs($0, values.map { $0 ?? 0 }) }.joined()
        }
        return runs(where: isCounted).map { run in
            "M\(stairs(run, sums[index + 1]))L\(stairs(run, sums[index], backwards: true))Z"
        }.joined()
    }

    /// The upper edge of values that each hold until the next one begins.
    private func stairs(_ run: Range<Int>, _ values: [Double], backwards: Bool = false) -> String {
        let steps = run.map { index in
            (from: number(x(places.edges[index])), to: number(x(places.edges[index + 1])), y: number(y(values[index])))
        }
        let ordered = backwards ? steps.reversed().map { (from: $0.to, to: $0.from, y: $0.y) } : steps
        return "\(ordered[0].from) \(ordered[0].y)" + ordered.map { "V\($0.y)H\($0.to)" }.joined()
    }

    /// The names of series at their last values, those of the greatest first, as far as there is room. Lines may end
    /// before the axis does; areas have their names at its end.
    private var names: [JSONValue] {
        let (leastDistance, widestName, mostCharacters) = (18.0, 102.0, 8)
        let end = chart.axis.indices.last(where: isCounted)
        let wanted = chart.series.enumerated().compactMap {
            index, series -> (name: String, x: Double, y: Double, size: Double)? in
            let place = chart.shape == .lines ? series.values.lastIndex { $0 != nil } : end
            guard let place, let value = series.values[place] else { return nil }
            if chart.shape == .lines { return (series.name, x(places.edges[place + 1]), y(value), value) }
            return value > 0 ? (series.name, Self.plot.right, y(sums[index][place] + value / 2), value) : nil
        }
        var taken: [(x: Double, y: Double)] = []
        return wanted.sorted { $1.size < $0.size }.compactMap { name, x, y, _ in
            guard taken.allSatisfy({ abs($0.y - y) >= leastDistance || abs($0.x - x) >= widestName }) else {
                return nil
            }
            taken.append((x, y))
            let short = name.count <= mostCharacters ? name : name.prefix(mostCharacters - 1) + "…"
            return ["x": number(x), "y": number(y), "label": short]
        }
    }

    /// A line for each mark, with the number of its change where there is room.
    var marks: [JSONValue] {
        // A phone shows digits larger.
        let digitWidth = 11.0
        var free = -Double.infinity
        return chart.marks.map { mark in
            let position = x(places.position(of: mark.at))
            let half = Double("\(mark.change)".count) * digitWidth / 2
            let hasRoom = position - half >= free
            if hasRoom { free = position + half + digitWidth }
            return [
                "x": number(position), "hasRoom": hasRoom, "change": mark.change,
                "address": Subject.change(mark.change).address, "at": mark.at, "minute": NumberText.minute(mark.at),
                "label": mark.label.text(at: nil, time: NumberText.minute),
            ]
        }
    }

    private var bars: JSONValue {
        let rows = chart.rows.enumerated().map { row, cells -> JSONValue in
            let values = chart.series.map { $0.values[row] }
            let parts = chart.series.enumerated().compactMap { index, series -> JSONValue? in
                let (from, to) = (across(sums[index][row]), across(sums[index + 1][row]))
                return to > from
                    ? ["x": number(from), "width": number(to - from), "index": index, "label": series.name] : nil
            }
            return [
                "top": number(Double(row) * Self.rowHeight), "label": cells[0]?.text, "parts": parts,
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
        return ["rows": rows, "bottom": number(Self.rowHeight * Double(rows.count)), "ticks": ticks]
    }

    private func across(_ value: Double) -> Double { value / scale.end * Self.width }

    private func number(_ value: Double) -> String { value.written(decimals: 1) }
}

extension Double {
    /// A number with at most some decimals, and none that is zero.
    func written(decimals: Int) -> String {
        let unit = decimals == 1 ? 10.0 : 100
        let rounded = (self * unit).rounded() / unit
        return Int(exactly: rounded).map { "\($0)" } ?? "\(rounded)"
    }
}

extension Chart.Axis {
    fileprivate var indices: Range<Int> { 0..<count }
}
