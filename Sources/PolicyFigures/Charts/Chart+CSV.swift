// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

extension Chart {
    /// The numbers as CSV (RFC 4180): a line for each place on the axis, a column for each series; empty where nothing
    /// was counted.
    public var csv: String {
        let places: [String]
        let heading: String
        switch axis {
        case .time(let times): (heading, places) = ("time", times.map(\.description))
        case .elapsed(let times): (heading, places) = ("elapsed_seconds", times.map { "\($0 / 1_000_000)" })
        case .names(let names): (heading, places) = ("name", names.map(Self.cell))
        }
        let header = [heading] + (checks.isEmpty ? [] : ["all_checks"]) + series.map { Self.cell($0.name) }
        let lines = zip(places, rows).map { place, cells in [place] + cells.map { $0?.digits ?? "" } }
        return ([header] + lines).map { $0.joined(separator: ",") + "\r\n" }.joined()
    }

    /// A name as a cell. One that a spreadsheet would take for a formula gets an apostrophe before it.
    private static func cell(_ text: String) -> String {
        let safe = text.first.map { "=+-@\t\r".contains($0) } == true ? "'" + text : text
        guard safe.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
