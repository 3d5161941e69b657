// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import UpdatePolicy

extension AppFigures {
    /// The most versions with a series of their own.
    private static let mostVersions = 7
    /// The most bars with a name of their own.
    private static let mostBars = 12
    /// The most versions or systems that an answer names.
    private static let mostNamed = 3

    /// Which versions are in use: the share of each over time, the greatest version first.
    static func versionsChart(
        _ bundle: String,
        _ period: CountPeriod,
        _ totals: [CheckTotals?],
        _ versions: [PlatformChecks],
        _ current: [PlatformChecks],
        isRecent: Bool,
        _ reader: CountReader
    ) throws -> Chart {
        let named = spellings(versions).compactMap { version, counts in
            version.map {
                (version: $0, spellings: counts.compactMap(\.name), checks: counts.reduce(0) { $0 + $1.checks })
            }
        }.sorted { $1.checks < $0.checks }.prefix(mostVersions).sorted { $1.version < $0.version }
        let checks = try reader.checks(
            of: bundle,
            in: period,
            bySpellings: named.map(\.spellings)
        )
        let all = totals.map { $0?.checks ?? 0 }
        var series = zip(named, checks).map { version, checks in
            Chart.Series(name: version.spellings[0], values: Chart.shares(checks, of: all))
        }
        let others = all.indices.map { step in all[step] - checks.reduce(0) { $0 + $1[step] } }
        if others.contains(where: { $0 > 0 }) {
            series.append(Chart.Series(name: Chart.others, values: Chart.shares(others, of: all)))
        }
        let counts = Self.versions(current, platform: nil).sorted { $1.checks < $0.checks }
        let answer = versionsAnswer(
            counts,
            isRecent ? "the last 24 hours" : "\(period.text); none came in the last 24 hours"
        )
        return Chart(
            name: "versions",
            question: "Which versions are in use?",
            answer: isRecent ? answer + weekBefore(series, counts, period) : answer,
            shape: .stackedAreas,
            unit: .share,
            axis: .time(period.starts),
            series: series,
            checks: all
        )
    }

    /// The share that the first of the versions had a week ago; empty where that is not shown.
    private static func weekBefore(
        _ series: [Chart.Series],
        _ counts: [VersionCount],
        _ period: CountPeriod
    ) -> String {
        let index = period.starts.count - 8
        guard period.step == .day, index >= 0,
            let name = counts.lazy.compactMap(\.version).first,
            let version = series.first(where: { AppVersion($0.name) == AppVersion(name) }),
            let share = version.values[index]
        else { return "" }
        return " \(name) had \(NumberText.percent(share, of: 1)) on \(NumberText.date(period.starts[index])) (UTC)."
    }

    private static func versionsAnswer(_ counts: [VersionCount], _ period: String) -> String {
        Chart.ranking(
            counts.compactMap { count in count.version.map { (name: $0, checks: count.checks) } },
            noun: "version",
            unknown: counts.first { $0.version == nil }?.checks ?? 0,
            mostNamed: mostNamed,
            period
        )
    }

    /// How fast the newest release of a platform spreads, beside the one before it.
    static func adoptionChart(_ adoption: Adoption, at time: Timestamp) -> Chart {
        let hour: Int64 = 3_600_000_000
        let elapsed = adoption.newest.elapsed(at: time)
        // Twice as long as the newest release is live, so that what may come can be seen on the one before.
        let isHourly = elapsed <= 48 * hour
        let step = isHourly ? hour : 24 * hour
        let count = isHourly ? max(48, elapsed / hour * 2) : min(90, elapsed / step * 2)
        let axis = (0..<count).map { $0 * step }
        func values(_ adoption: ReleaseAdoption) -> [Double?] {
            var steps = axis.map { _ in (checks: Int64(0), reached: Int64(0)) }
            for period in adoption.periods {
                let index = Int(clamping: adoption.elapsed(at: period.start) / step)
                guard index < steps.count else { continue }
                steps[index].checks += period.checks
                steps[index].reached += period.reached
            }
            return steps.map { $0.checks == 0 ? nil : Double($0.reached) / Double($0.checks) }
        }
        let platform = Platform(adoption.newest.release.platform)
        let releases = [adoption.newest] + (adoption.previous.map { [$0] } ?? [])
        return Chart(
            name: "adoption-\(platform.name.replacing("_", with: "-"))",
            question: "How fast does \(adoption.newest.release.version.text) spread on \(platform.displayName)?",
            answer: adoptionAnswer(adoption, platform, elapsed),
            shape: .lines,
            unit: .share,
            axis: .elapsed(axis),
            series: releases.map { Chart.Series(name: $0.release.version.text, values: values($0)) }
                .filter { series in series.values.contains { $0 != nil } }
        )
    }

    private static func adoptionAnswer(_ adoption: Adoption, _ platform: Platform, _ elapsed: Int64) -> String {
        func after(_ time: Int64, _ adoption: ReleaseAdoption) -> String {
            // Where counting began later than the first whole day, nobody knows when it was.
            let first = adoption.periods.first.map { adoption.elapsed(at: $0.start) } ?? 0
            if time == first, first > 2 * 86_400_000_000 { return "before the first count" }
            return time < 3_600_000_000 ? "within an hour" : "after \(NumberText.duration(microseconds: time))"
        }
        func sentence(_ name: String, _ adoption: ReleaseAdoption) -> String {
            switch (adoption.microseconds(toReach: 50), adoption.microseconds(toReach: 90)) {
            case (nil, _): "\(name) has not reached 50 % yet."
            case (let half?, nil): "\(name) reached 50 % \(after(half, adoption)), and has not reached 90 % yet."
            case (let half?, let most?): "\(name) reached 50 % \(after(half, adoption)), 90 % \(after(most, adoption))."
            }
        }
        let newest = adoption.newest.release.version.text
        let live = NumberText.duration(microseconds: elapsed)
        let share =
            adoption.share.map {
                "\(newest) or newer has \(NumberText.percent($0, of: 1)) of the current checks on \(platform.displayName),"
                    + " \(live) after it went live."
            } ?? "\(newest) went live \(live) ago; nothing was counted on \(platform.displayName) lately."
        let previous = adoption.previous.map { " " + sentence("\($0.release.version.text) before it", $0) } ?? ""
        return "\(share) \(sentence("It", adoption.newest))\(previous)"
    }

    /// How many checks are answered with a message and with a lockout, with the edits of the app's rules.
    static func messagesChart(
        _ period: CountPeriod,
        _ totals: [CheckTotals?],
        _ total: CheckTotals,
        _ edits: [RuleEdit]
    ) -> Chart {
        let all = totals.map { $0?.checks ?? 0 }
        let whole = Double(total.checks)
        let answer =
            total.checks == 0
            ? Chart.nothing(period.text)
            : "\(NumberText.share(total.messages, ofChecks: total.checks)) of"
                + " \(period.text) got a message, \(NumberText.share(Double(total.lockouts), of: whole)) were locked out."
                + latest(totals, period)
        return Chart(
            name: "messages",
            question: "How many checks get a message, and how many are locked out?",
            answer: answer,
            shape: .lines,
            unit: .share,
            axis: .time(period.starts),
            series: [
                Chart.Series(name: "message", values: Chart.shares(totals.map { $0?.messages ?? 0 }, of: all)),
                Chart.Series(name: Chart.lockout, values: Chart.shares(totals.map { $0?.lockouts ?? 0 }, of: all)),
            ],
            checks: all,
            marks: edits.map { $0.mark(namesRule: true) }
        )
    }

    /// The shares of the last step with checks, which tell whether something has just changed.
    private static func latest(_ totals: [CheckTotals?], _ period: CountPeriod) -> String {
        guard let index = totals.lastIndex(where: { $0 != nil }), let last = totals[index] else { return "" }
        let when =
            period.step == .hour
            ? "In the latest hour with checks" : "On \(NumberText.date(period.starts[index])) (UTC)"
        let whole = Double(last.checks)
        return " \(when): \(NumberText.share(Double(last.messages), of: whole)) and"
            + " \(NumberText.share(Double(last.lockouts), of: whole))."
    }

    /// Which systems the clients have, by platform and first number.
    static func systemsChart(_ period: CountPeriod, _ total: CheckTotals, _ systems: [PlatformChecks]) -> Chart {
        var checks: [String: Int64] = [:]
        for system in systems {
            guard let name = system.name, let major = major(of: name) else { continue }
            let platform = system.platform.map { Platform($0).displayName } ?? "(no platform)"
            checks["\(platform) \(major)", default: 0] += system.checks
        }
        return bars("systems", "Which systems do the clients have?", "system", checks, total, period)
    }

    /// Where the clients are.
    static func regionsChart(_ period: CountPeriod, _ total: CheckTotals, _ regions: [PlatformChecks]) -> Chart {
        var checks: [String: Int64] = [:]
        for region in regions {
            if let name = region.name { checks[name, default: 0] += region.checks }
        }
        return bars("regions", "Where are the clients?", "region", checks, total, period)
    }

    /// The first number of a version, without zeros before it; nil where the version cannot be read.
    private static func major(of text: String) -> String? {
        guard AppVersion(text) != nil else { return nil }
        let digits = text.drop { !("0"..."9").contains($0) }.prefix { ("0"..."9").contains($0) }.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    /// A bar for each of the most frequent names, for all others, and for what is not known.
    private static func bars(
        _ name: String,
        _ question: String,
        _ noun: String,
        _ checks: [String: Int64],
        _ total: CheckTotals,
        _ period: CountPeriod
    ) -> Chart {
        let names = checks.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let known = names.reduce(0) { $0 + $1.value }
        var bars = names.prefix(mostBars).map { ($0.key, $0.value) }
        let others = names.dropFirst(mostBars).reduce(0) { $0 + $1.value }
        if others > 0 { bars.append((Chart.others, others)) }
        if total.checks > known { bars.append(("not known", total.checks - known)) }
        return Chart(
            name: name,
            question: question,
            answer: Chart.ranking(
                names.map { (name: $0.key, checks: $0.value) },
                noun: noun,
                unknown: total.checks - known,
                mostNamed: mostNamed,
                period.text
            ),
            shape: .bars,
            unit: .share,
            axis: .names(bars.map(\.0)),
            series: bars.isEmpty
                ? []
                : [
                    Chart.Series(
                        name: "share",
                        values: Chart.shares(bars.map(\.1), of: bars.map { _ in total.checks })
                    )
                ],
            checks: bars.map { _ in total.checks }
        )
    }
}
