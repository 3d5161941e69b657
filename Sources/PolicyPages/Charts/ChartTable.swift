// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures

/// The numbers of a chart as an HTML table: a row for each place on the axis, a column for each series.
struct ChartTable {
    private let chart: Chart

    /// Prepares a chart for writing.
    init(_ chart: Chart) {
        self.chart = chart
    }

    /// The table. Each number is there with all of its digits, as the value of a `<data>`.
    var html: String {
        let columns = [place] + (chart.checks.isEmpty ? [] : ["all checks"]) + chart.series.map(\.name)
        let rows = zip(rowHeaders, chart.rows).map { header, cells in
            let data = cells.map { cell in
                cell.map { "<td><data value=\"\($0.digits)\">\($0.text.markup())</data></td>" } ?? "<td>none</td>"
            }
            return "<tr><th scope=\"row\">\(header)</th>\(data.joined())</tr>"
        }
        return """
            <table class="chart-table">
            <caption>\(chart.question.markup())</caption>
            <thead><tr>\(columns.map { "<th scope=\"col\">\($0.markup())</th>" }.joined())</tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            </table>
            """
    }

    private var place: String {
        switch chart.axis {
        case .time: "from (UTC)"
        case .elapsed: "after"
        case .names: "what"
        }
    }

    private var rowHeaders: [String] {
        switch chart.axis {
        case .time(let times):
            times.map { time in
                let day = NumberText.date(time)
                let text = chart.isHourly ? "\(day) \(NumberText.timeOfDay(time))" : day
                return "<time datetime=\"\(time)\">\(text)</time>"
            }
        case .elapsed(let times): times.map { NumberText.duration(microseconds: $0) }
        case .names(let names): names.map { "<bdi>\(NumberText.sentence($0).markup())</bdi>" }
        }
    }
}
