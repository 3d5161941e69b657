// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The statistics of an app for people: tables, and charts that fit the terminal.
struct StatisticsText {
    private let statistics: AppStatistics
    private let terminal: Terminal

    /// Versions that have a letter of their own in the chart; the others share one.
    private static let letters: [(letter: Character, style: TextStyle)] = [
        ("A", .green), ("B", .cyan), ("C", .blue), ("D", .magenta), ("E", .yellow), ("F", .red),
    ]
    private static let others: Character = "-"
    /// The most lines of the chart; more days are taken together.
    private static let mostLines = 31
    private static let mostVersions = 20
    private static let widestBar = 60

    init(_ statistics: AppStatistics, terminal: Terminal) {
        self.statistics = statistics
        self.terminal = terminal
    }

    /// All of it, without a line break at its end.
    var text: String {
        var caveats = [CountCaveats.unverified]
        if let merged = statistics.merged { caveats += CountCaveats.warnings([merged]) }
        if let unreadable = statistics.unreadable { caveats += CountCaveats.warnings([unreadable]) }
        return [headline, chart, platforms, current, adoption, caveats.joined(separator: "\n")].filter {
            !$0.isEmpty
        }
        .joined(separator: "\n\n")
    }

    /// The day of a time in UTC: `2026-03-01`.
    static func date(_ time: Timestamp) -> String {
        String(time.description.prefix(10))
    }

    private var headline: String {
        let all = Double(statistics.checks)
        let period = "in the last \(statistics.days) \(statistics.days == 1 ? "day" : "days")"
        return "\(statistics.bundle): \(NumberText.count(statistics.checks)) checks \(period), "
            + "\(NumberText.percent(Double(statistics.messages), of: all)) with a message, "
            + "\(NumberText.percent(Double(statistics.lockouts), of: all)) locked out"
    }

    /// A line for each day, or for some days: the share of each version as a stacked bar.
    private var chart: String {
        let size = (statistics.byDay.count + Self.mostLines - 1) / Self.mostLines
        let lines = stride(from: 0, to: statistics.byDay.count, by: max(1, size)).map { first in
            Array(statistics.byDay[first..<min(first + size, statistics.byDay.count)])
        }
        let named = namedVersions
        var table = TextTable("DAY", "CHECKS", "MESSAGES", "LOCKOUTS")
        let rows = lines.map { days in
            let checks = Double(days.reduce(0) { $0 + $1.checks })
            return [
                Self.date(days[0].start), NumberText.count(days.reduce(0) { $0 + $1.checks }),
                NumberText.percent(Double(days.reduce(0) { $0 + $1.messages }), of: checks),
                NumberText.percent(Double(days.reduce(0) { $0 + $1.lockouts }), of: checks),
            ]
        }
        for row in rows { table.add(cells: row) }
        guard let width = Bar.width(behind: table, on: terminal, most: Self.widestBar) else {
            return table.text(for: terminal)
        }
        var withBars = TextTable(header: table.header)
        for (days, row) in zip(lines, rows) { withBars.add(cells: row, bar: bar(days, named, width: width)) }
        return withBars.text(for: terminal) + "\n" + legend(named)
    }

    /// The versions with most checks, the greatest first.
    private var namedVersions: [AppVersion] {
        var checks: [AppVersion: Int64] = [:]
        for count in statistics.byDay.flatMap(\.versions) {
            if let version = count.version.flatMap({ AppVersion($0) }) { checks[version, default: 0] += count.checks }
        }
        return checks.sorted { ($1.value, $0.key.text) < ($0.value, $1.key.text) }.prefix(Self.letters.count)
            .map(\.key).sorted { $1 < $0 }
    }

    private func bar(_ days: [AppStatistics.Day], _ named: [AppVersion], width: Int) -> String {
        let all = Double(days.reduce(0) { $0 + $1.checks })
        let counts = days.flatMap(\.versions)
        var parts: [(part: Double, character: Character, style: TextStyle)] = []
        var rest = all
        for (version, style) in zip(named, Self.letters) {
            let checks = counts.filter { $0.version.flatMap { AppVersion($0) } == version }.reduce(0) { $0 + $1.checks }
            rest -= Double(checks)
            parts.append((Double(checks) / all, style.letter, style.style))
        }
        if rest > 0 { parts.append((rest / all, Self.others, .yellow)) }
        return Bar.text(parts, width: width, on: terminal)
    }

    private func legend(_ named: [AppVersion]) -> String {
        let names = zip(named, Self.letters).map { "\(terminal.styled(String($1.letter), $1.style)) \($0.text)" }
        let count = Set(statistics.byDay.flatMap(\.versions).map { $0.version.flatMap { AppVersion($0) } }).count
        return (names + (count > named.count ? ["\(Self.others) others"] : [])).joined(separator: "  ")
    }

    private var platforms: String {
        var table = TextTable("PLATFORM", "CHECKS", "SHARE")
        let rows = statistics.platforms.map { platform in
            let share = Double(platform.checks) / Double(statistics.checks)
            return (
                [
                    platform.platform ?? "(unknown)", NumberText.count(platform.checks),
                    NumberText.percent(share, of: 1),
                ], share
            )
        }
        for row in rows { table.add(cells: row.0) }
        return withBars(table, rows)
    }

    private var current: String {
        let all = Double(statistics.currentChecks)
        var table = TextTable("VERSION", "PLATFORM", "CHECKS", "SHARE")
        var rows = statistics.current.prefix(Self.mostVersions).map { version in
            (
                [
                    version.version ?? "(unknown)", version.platform ?? "(unknown)", NumberText.count(version.checks),
                    NumberText.percent(Double(version.checks), of: all),
                ], Double(version.checks) / all
            )
        }
        let others = statistics.current.dropFirst(Self.mostVersions)
        if !others.isEmpty {
            let checks = others.reduce(0) { $0 + $1.checks }
            rows.append(
                (
                    [
                        "\(others.count) more", "", NumberText.count(checks),
                        NumberText.percent(Double(checks), of: all),
                    ],
                    Double(checks) / all
                )
            )
        }
        for row in rows { table.add(cells: row.0) }
        let since = Timestamp(secondsSince1970: statistics.currentSince.microsecondsSince1970 / 1_000_000)
        return "Checks since \(since):\n" + withBars(table, rows)
    }

    private func withBars(_ table: TextTable, _ rows: [(cells: [String], share: Double)]) -> String {
        guard let width = Bar.width(behind: table, on: terminal) else { return table.text(for: terminal) }
        var withBars = TextTable(header: table.header)
        for (cells, share) in rows {
            withBars.add(cells: cells, bar: Bar.text([(share, "#", .green)], width: width, on: terminal))
        }
        return withBars.text(for: terminal)
    }

    private var adoption: String {
        guard !statistics.adoptions.isEmpty else { return "" }
        var table = TextTable("NEWEST RELEASE", "PLATFORM", "LIVE SINCE", "SHARE NOW", "HALF OF THE CHECKS")
        for adoption in statistics.adoptions {
            let release = adoption.release.release
            table.add(
                release.version.text,
                release.platform,
                release.liveAt.description,
                adoption.share.map { NumberText.percent($0, of: 1) } ?? "-",
                adoption.release.microsecondsToHalf.map { "after \(Self.duration(microseconds: $0))" } ?? "not yet"
            )
        }
        return table.text(for: terminal)
    }

    /// A duration in days and hours: `2 d 5 h`.
    static func duration(microseconds: Int64) -> String {
        let (days, hours) = (microseconds / 3_600_000_000).quotientAndRemainder(dividingBy: 24)
        if days == 0 { return hours == 0 ? "less than an hour" : "\(hours) h" }
        return hours == 0 ? "\(days) d" : "\(days) d \(hours) h"
    }
}
