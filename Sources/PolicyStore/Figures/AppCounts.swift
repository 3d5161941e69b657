package import Postgres
package import UpdatePolicy

/// What was counted of one app. Each part is read when it is first asked for, within one transaction.
package final class AppCounts {
    package struct Adoption: Sendable {
        package let newest: ReleaseAdoption
        package let previous: ReleaseAdoption?
        /// Its share of the platform's current checks; nil where the platform has none.
        package let share: Double?
    }

    /// The app as the policy spells it; as it was asked for where the policy has no such app.
    package let bundle: String
    package let period: CountPeriod
    private let time: Timestamp
    private let reader: CountReader
    private let releases: [Release]
    private let newestReleases: [(newest: NewestRelease, previous: NewestRelease?)]
    private var lastDay: CountPeriod { CountPeriod(days: 1, at: time) }

    /// - Parameter policy: What the app has, and no other app.
    package init(bundle: String, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) {
        self.bundle = policy.apps.first?.bundle ?? bundle
        self.time = time
        period = CountPeriod(days: days, at: time)
        reader = CountReader(session)
        releases = policy.releases
        newestReleases = NewestRelease.perPlatform(policy.releases, at: time).map { release in
            (newest: release, previous: release.previous(among: policy.releases, at: time))
        }
    }

    private lazy var totals = Result { try reader.totals(of: bundle, in: period) }
    private lazy var versions = Result { try reader.checks(of: bundle, by: .version, in: period) }
    private lazy var versionsOfLastDay =
        period == lastDay ? versions : Result { try reader.checks(of: bundle, by: .version, in: lastDay) }

    /// The checks that are current: those of the last 24 hours, or of the whole period if there were none in them.
    private func currentChecks() throws -> (versions: [NamedChecks], since: Timestamp, isOfLastDay: Bool) {
        let recent = try versionsOfLastDay.get()
        return recent.isEmpty ? (try versions.get(), period.start, false) : (recent, lastDay.start, true)
    }

    private lazy var spreads = Result {
        let current = try currentChecks().versions
        return try reader.adoptions(of: newestReleases, bundle: bundle, at: time).map { newest, previous in
            let onPlatform = current.filter { $0.platform == newest.release.platform }
            let reached = onPlatform.filter { $0.version.map { !($0 < newest.release.version) } ?? false }
            let share = Chart.share(reached.checks, of: onPlatform.checks)
            return Adoption(newest: newest, previous: previous, share: share)
        }
    }

    package func total() throws -> CheckTotals { .sum(try totals.get()) }

    package func platforms() throws -> [NamedChecks] {
        Dictionary(grouping: try versions.get(), by: \.platform)
            .map { NamedChecks(platform: $0, name: nil, checks: $1.checks) }
            .sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") }
    }

    /// The current checks by platform and version, most first, and since when checks are current.
    package func current() throws -> (since: Timestamp, versions: [NamedChecks]) {
        let (versions, since, _) = try currentChecks()
        let merged = Dictionary(grouping: versions, by: \.platform).flatMap { $1.byVersion(platform: $0) }
        return (since, merged.sorted { ($1.checks, $0.platform ?? "") < ($0.checks, $1.platform ?? "") })
    }

    package func adoptions() throws -> [Adoption] { try spreads.get() }

    package func merged() throws -> MergedChecks? {
        try reader.ifReadable { try $0.mergedChecks(days: period.days, bundles: [bundle]) }?.first
    }

    package func unreadable() throws -> UnreadableVersions? {
        UnreadableVersions(ofApp: bundle, among: try versions.get().map { (version: $0.name, checks: $0.checks) })
    }

    package func preReleases() throws -> [PreReleaseMatch] {
        let versions = try versions.get().map { (version: $0.name, checks: $0.checks) }
        return PreReleaseMatch.matches(among: versions, releases: releases)
    }

    package func daily() throws -> [(start: Timestamp, total: CheckTotals, versions: [NamedChecks])] {
        Dictionary(grouping: try reader.dailyCounts(of: bundle, in: period), by: \.start)
            .sorted { $0.key < $1.key }
            .map { start, counts in
                (start, .sum(counts.map(\.totals)), counts.map(\.version).byVersion(platform: nil))
            }
    }

    package var charts: [ChartQuery] {
        let adoptions = newestReleases.map(\.newest).enumerated().map { index, release in
            let platform = Platform(release.platform)
            return ChartQuery(name: "adoption-\(platform.name.replacing("_", with: "-"))") { name in
                self.adoptionChart(name, try self.spreads.get()[index], platform)
            }
        }
        return [ChartQuery(name: "versions", make: versionsChart)] + adoptions + [
            ChartQuery(name: "messages", make: messagesChart), ChartQuery(name: "systems", make: systemsChart),
            ChartQuery(name: "regions", make: regionsChart),
        ]
    }

    private func versionsChart(_ name: String) throws -> Chart {
        let mostVersions = 7
        let current = try currentChecks()
        let all = try totals.get().map { $0?.checks ?? 0 }
        let named = try versions.get().bySpelling.compactMap { version, counts in
            version.map { (version: $0, spellings: counts.compactMap(\.name), checks: counts.checks) }
        }.sorted { $1.checks < $0.checks }.prefix(mostVersions).sorted { $1.version < $0.version }
        let checks = try reader.checks(of: bundle, in: period, bySpellings: named.map(\.spellings))
        var parts = zip(named, checks).map { (name: $0.spellings[0], checks: $1) }
        let others = all.indices.map { step in all[step] - checks.reduce(0) { $0 + $1[step] } }
        if others.contains(where: { $0 > 0 }) { parts.append((Chart.others, others)) }
        let counts = current.versions.byVersion(platform: nil).sorted { $1.checks < $0.checks }
        let answer = Chart.ranking(
            counts.compactMap { count in count.name.map { (name: $0, checks: count.checks) } }, noun: "version",
            unknown: counts.first { $0.name == nil }?.checks ?? 0,
            current.isOfLastDay ? "the last 24 hours" : "\(period.text); none came in the last 24 hours"
        )
        return Chart(
            name, "Which versions are in use?",
            answer: current.isOfLastDay ? answer + weekBefore(parts, of: all, counts) : answer, shape: .stackedAreas,
            period, parts, of: all
        )
    }

    private func weekBefore(
        _ parts: [(name: String, checks: [Int64])],
        of all: [Int64],
        _ counts: [NamedChecks]
    ) -> String {
        let index = period.starts.count - 8
        guard period.step == .day, index >= 0, let name = counts.lazy.compactMap(\.name).first,
            let version = parts.first(where: { AppVersion($0.name) == AppVersion(name) }),
            let share = Chart.share(version.checks[index], of: all[index])
        else { return "" }
        return " \(name) had \(NumberText.percent(share, of: 1)) on \(NumberText.date(period.starts[index])) (UTC)."
    }

    private func adoptionChart(_ name: String, _ adoption: Adoption, _ platform: Platform) -> Chart {
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
            return steps.map { Chart.share($0.reached, of: $0.checks) }
        }
        let releases = [adoption.newest] + (adoption.previous.map { [$0] } ?? [])
        return Chart(
            name: name,
            question: "How fast does \(adoption.newest.release.version.text) spread on \(platform.displayName)?",
            answer: Self.adoptionAnswer(adoption, platform, elapsed), shape: .lines, unit: .share,
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

    private func messagesChart(_ name: String) throws -> Chart {
        let totals = try totals.get()
        let total = CheckTotals.sum(totals)
        let all = totals.map { $0?.checks ?? 0 }
        let answer =
            total.checks == 0
            ? Chart.nothing(period.text)
            : "\(NumberText.share(total.messages, ofChecks: total.checks)) of"
                + " \(period.text) got a message, \(total.lockoutShare) were locked out." + latest(totals)
        return Chart(
            name, "How many checks get a message, and how many are locked out?", answer: answer, period,
            [("message", totals.map { $0?.messages ?? 0 }), (Chart.lockout, totals.map { $0?.lockouts ?? 0 })],
            of: all,
            marks: try Chart.marks(HistoryFilter(subject: bundle, since: period.start), reader.session)
        )
    }

    private func latest(_ totals: [CheckTotals?]) -> String {
        guard let index = totals.lastIndex(where: { $0 != nil }), let last = totals[index] else { return "" }
        let isHour = period.step == .hour
        let when = isHour ? "In the latest hour with checks" : "On \(NumberText.date(period.starts[index])) (UTC)"
        return " \(when): \(last.messageShare) and \(last.lockoutShare)."
    }

    private func systemsChart(_ name: String) throws -> Chart {
        let systems = try reader.checks(of: bundle, by: .os, in: period).compactMap { system in
            system.major.map { major in
                ("\(system.platform.map { Platform($0).displayName } ?? "(no platform)") \(major)", system.checks)
            }
        }
        return try bars(name, "Which systems do the clients have?", noun: "system", systems)
    }

    private func regionsChart(_ name: String) throws -> Chart {
        let regions = try reader.checks(of: bundle, by: .region, in: period).compactMap { region in
            region.name.map { ($0, region.checks) }
        }
        return try bars(name, "Where are the clients?", noun: "region", regions)
    }

    private func bars(_ name: String, _ question: String, noun: String, _ checks: [(String, Int64)]) throws -> Chart {
        let mostBars = 12
        let all = try total().checks
        let names = Dictionary(checks, uniquingKeysWith: +).filter { $0.value > 0 }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (name: $0.key, checks: $0.value) }
        let known = names.reduce(0) { $0 + $1.checks }
        var bars = Array(names.prefix(mostBars))
        let others = names.dropFirst(mostBars).reduce(0) { $0 + $1.checks }
        if others > 0 { bars.append((Chart.others, others)) }
        if all > known { bars.append(("not known", all - known)) }
        return Chart(
            name: name, question: question,
            answer: Chart.ranking(names, noun: noun, unknown: all - known, period.text), shape: .bars, unit: .share,
            axis: .names(bars.map(\.name)),
            series: bars.isEmpty
                ? [] : [Chart.Series(name: "share", values: bars.map { Chart.share($0.checks, of: all) })],
            checks: bars.map { _ in all }
        )
    }
}

extension NamedChecks {
    fileprivate var version: AppVersion? { name.flatMap { AppVersion($0) } }

    /// The first number of a version, without zeros before it; nil where the version cannot be read.
    fileprivate var major: String? {
        guard let name, version != nil else { return nil }
        let digits = name.drop { !("0"..."9").contains($0) }.prefix { ("0"..."9").contains($0) }.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }
}

extension Sequence<NamedChecks> {
    fileprivate var checks: Int64 { reduce(0) { $0 + $1.checks } }

    /// Counts by what the version means, the greatest first, the unreadable last; in each, the usual spelling first.
    fileprivate var bySpelling: [(version: AppVersion?, counts: [NamedChecks])] {
        Dictionary(grouping: self, by: \.version).sorted { left, right in
            guard let version = left.key, let other = right.key else { return left.key != nil && right.key == nil }
            return other < version
        }.map { version, counts in
            let spellings = Dictionary(grouping: counts, by: \.name).map { name, counts in
                NamedChecks(platform: nil, name: name, checks: counts.checks)
            }
            return (version, spellings.sorted { ($1.checks, $0.name ?? "") < ($0.checks, $1.name ?? "") })
        }
    }

    /// One count for each version, by the spelling with most checks, the greatest first; nil and last what cannot be read.
    fileprivate func byVersion(platform: String?) -> [NamedChecks] {
        bySpelling.map { version, counts in
            NamedChecks(platform: platform, name: version == nil ? nil : counts.first?.name, checks: counts.checks)
        }
    }
}
