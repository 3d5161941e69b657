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
        var caveats = CountCaveats.tooFew(statistics.checks) + [CountCaveats.unverified]
        if let merged = statistics.merged { caveats += CountCaveats.warnings([merged]) }
        if let unreadable = statistics.unreadable { caveats += CountCaveats.warnings([unreadable]) }
        return [
            terminal.paragraphs(headline), chart, platforms, current, adoption,
            caveats.map { terminal.paragraphs($0) }.joined(separator: "\n"),
        ].filter {
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
        return
            "\(statistics.bundle): \(NumberText.count(statistics.checks)) \(statistics.checks == 1 ? "check" : "checks") \(period), "
            + "\(NumberText.share(Double(statistics.messages), of: all)) with a message, "
            + "\(NumberText.share(Double(statistics.lockouts), of: all)) locked out"
    }

    /// A line for each day, or for some days: the share of each version as a stacked bar.
    private var chart: String {
        let size = (statistics.byDay.count + Self.mostLines - 1) / Self.mostLines
        let lines = stride(from: 0, to: statistics.byDay.count, by: max(1, size)).map { first in
            Array(statistics.byDay[first..<min(first + size, statistics.byDay.count)])
        }
        let named = namedVersions
        var table = TextTable(header: ["DAY (UTC)", "CHECKS", "MESSAGES", "LOCKOUTS"], widestBar: Self.widestBar)
        for days in lines {
            let checks = Double(days.reduce(0) { $0 + $1.checks })
            let cells = [
                Self.date(days[0].start), NumberText.count(days.reduce(0) { $0 + $1.checks }),
                NumberText.share(Double(days.reduce(0) { $0 + $1.messages }), of: checks),
                NumberText.share(Double(days.reduce(0) { $0 + $1.lockouts }), of: checks),
            ]
            table.add(cells: cells, bar: bar(days, named))
        }
        return table.text(for: terminal)
            + (table.barWidth(on: terminal) == nil ? "" : "\n" + terminal.paragraphs(legend(named)))
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

    private func bar(_ days: [AppStatistics.Day], _ named: [AppVersion]) -> Bar {
        let all = Double(days.reduce(0) { $0 + $1.checks })
        let counts = days.flatMap(\.versions)
        var parts: [Bar.Part] = []
        var rest = all
        for (version, style) in zip(named, Self.letters) {
            let checks = counts.filter { $0.version.flatMap { AppVersion($0) } == version }.reduce(0) { $0 + $1.checks }
            rest -= Double(checks)
            parts.append((Double(checks) / all, style.letter, style.style))
        }
        if rest > 0 { parts.append((rest / all, Self.others, .yellow)) }
        return Bar(parts)
    }

    private func legend(_ named: [AppVersion]) -> String {
        let names = zip(named, Self.letters).map { "\(terminal.styled(String($1.letter), $1.style)) \($0.text)" }
        let count = Set(statistics.byDay.flatMap(\.versions).map { $0.version.flatMap { AppVersion($0) } }).count
        return (names + (count > named.count ? ["\(Self.others) others"] : [])).joined(separator: "  ")
    }

    private var platforms: String {
        var table = TextTable("PLATFORM", "CHECKS", "SHARE")
        for platform in statistics.platforms {
            let share = Double(platform.checks) / Double(statistics.checks)
            table.add(
                cells: [
                    platform.platform ?? "(unknown)", NumberText.count(platform.checks),
                    NumberText.share(Double(platform.checks), of: Double(statistics.checks)),
                ],
                bar: Bar([(share, "#", .green)])
            )
        }
        return table.text(for: terminal)
    }

    private var current: String {
        let all = Double(statistics.currentChecks)
        var table = TextTable("VERSION", "PLATFORM", "CHECKS", "SHARE")
        func add(_ version: String, _ platform: String, _ checks: Int64) {
            let cells = [version, platform, NumberText.count(checks), NumberText.share(Double(checks), of: all)]
            table.add(cells: cells, bar: Bar([(Double(checks) / all, "#", .green)]))
        }
        for version in statistics.current.prefix(Self.mostVersions) {
            add(version.version ?? "(unknown)", version.platform ?? "(unknown)", version.checks)
        }
        let others = statistics.current.dropFirst(Self.mostVersions)
        if !others.isEmpty { add("\(others.count) more", "", others.reduce(0) { $0 + $1.checks }) }
        return "Checks since \(TimeText.local(statistics.currentSince)):\n" + table.text(for: terminal)
    }

    private var adoption: String {
        guard !statistics.adoptions.isEmpty else { return "" }
        var table = TextTable("NEWEST RELEASE", "PLATFORM", "LIVE SINCE", "SHARE NOW", "HALF OF THE CHECKS", named: 2)
        for adoption in statistics.adoptions {
            let release = adoption.release.release
            table.add(
                release.version.text,
                release.platform,
                TimeText.local(release.liveAt),
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
