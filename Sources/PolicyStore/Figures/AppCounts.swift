package import Postgres
package import UpdatePolicy

/// What was counted of one app. Each part is read when it is first asked for, within one transaction.
package final class AppCounts {
    let bundle: String
    let period: CountPeriod
    let time: Timestamp
    let reader: CountReader
    /// The newest release of each platform and the one before it, by platform.
    let releases: [(newest: NewestRelease, previous: NewestRelease?)]

    private let lastDay: CountPeriod

    /// Prepares to read; of an app that is not there, or that did not ask, there are no counts.
    ///
    /// - Parameters:
    ///   - bundle: The app; case does not count.
    ///   - policy: What the app has, and no other app.
    ///   - days: How many days before `time`; one day is the last 24 hours.
    package init(bundle: String, in policy: Policy, days: Int, at time: Timestamp, _ session: PostgresSession) {
        self.bundle = policy.apps.first?.bundle ?? bundle
        self.time = time
        period = CountPeriod(days: days, at: time)
        lastDay = CountPeriod(days: 1, at: time)
        reader = CountReader(session)
        releases = NewestRelease.perPlatform(policy.releases, at: time).map { release in
            (newest: release, previous: release.previous(among: policy.releases, at: time))
        }
    }

    /// The checks of each step; nil where there were none.
    private(set) lazy var totals = Result { try reader.totals(of: bundle, in: period) }

    func total() throws -> CheckTotals { .sum(try totals.get()) }

    /// The checks of the period by platform and version, most checks first.
    private(set) lazy var versions = Result { try reader.versions(of: bundle, in: period) }

    private lazy var versionsOfLastDay =
        period == lastDay ? versions : Result { try reader.versions(of: bundle, in: lastDay) }

    /// The checks that are current: those of the last 24 hours, or of the whole period if there were none in them.
    func current() throws -> (versions: [PlatformChecks], since: Timestamp, isOfLastDay: Bool) {
        let recent = try versionsOfLastDay.get()
        return recent.isEmpty ? (try versions.get(), period.start, false) : (recent, lastDay.start, true)
    }

    /// How the newest release of each platform spread, by platform.
    private(set) lazy var adoptions = Result {
        let current = try current().versions
        return try reader.adoptions(of: releases, bundle: bundle, at: time).map { newest, previous in
            AppFigures.Adoption(newest: newest, previous: previous, share: Self.share(of: newest.release, current))
        }
    }

    private static func share(of release: NewestRelease, _ counts: [PlatformChecks]) -> Double? {
        let onPlatform = counts.filter { $0.platform == release.platform }
        let all = onPlatform.reduce(0) { $0 + $1.checks }
        guard all > 0 else { return nil }
        let reached = onPlatform.filter { count in
            count.name.flatMap { AppVersion($0) }.map { !($0 < release.version) } ?? false
        }
        return Double(reached.reduce(0) { $0 + $1.checks }) / Double(all)
    }
}

extension AppCounts {
    /// The most versions with a series of their own.
    private static let mostVersions = 7
    /// The most bars with a name of their own.
    private static let mostBars = 12
    /// The most versions or systems that an answer names.
    private static let mostNamed = 3

    /// The charts: versions, adoption on each platform, messages, systems, regions.
    package var charts: [ChartQuery] {
        let adoptions = releases.map(\.newest).enumerated().map { index, release in
            let platform = Platform(release.platform)
            return ChartQuery("adoption-\(platform.name.replacing("_", with: "-"))") { name in
                self.adoptionChart(name, try self.adoptions.get()[index], platform)
            }
        }
        return [ChartQuery("versions", versionsChart)] + adoptions + [
            ChartQuery("messages", messagesChart),
            ChartQuery("systems", systemsChart),
            ChartQuery("regions", regionsChart),
        ]
    }

    // MARK: - Versions

    /// Which versions are in use: the share of each over time, the greatest version first.
    private func versionsChart(_ name: String) throws -> Chart {
        let current = try current()
        let all = try totals.get().map { $0?.checks ?? 0 }
        let named = AppFigures.spellings(try versions.get()).compactMap { version, counts in
            version.map {
                (version: $0, spellings: counts.compactMap(\.name), checks: counts.reduce(0) { $0 + $1.checks })
            }
        }.sorted { $1.checks < $0.checks }.prefix(Self.mostVersions).sorted { $1.version < $0.version }
        let checks = try reader.checks(of: bundle, in: period, bySpellings: named.map(\.spellings))
        var series = zip(named, checks).map { version, checks in
            Chart.Series(name: version.spellings[0], values: Chart.shares(checks, of: all))
        }
        let others = all.indices.map { step in all[step] - checks.reduce(0) { $0 + $1[step] } }
        if others.contains(where: { $0 > 0 }) {
            series.append(Chart.Series(name: Chart.others, values: Chart.shares(others, of: all)))
        }
        let counts = AppFigures.versions(current.versions, platform: nil).sorted { $1.checks < $0.checks }
        let answer = Chart.ranking(
            counts.compactMap { count in count.version.map { (name: $0, checks: count.checks) } }, noun: "version",
            unknown: counts.first { $0.version == nil }?.checks ?? 0, mostNamed: Self.mostNamed,
            current.isOfLastDay ? "the last 24 hours" : "\(period.text); none came in the last 24 hours"
        )
        return Chart(
            name: name, question: "Which versions are in use?",
            answer: current.isOfLastDay ? answer + weekBefore(series, counts) : answer, shape: .stackedAreas,
            unit: .share, axis: .time(period.starts), series: series, checks: all
        )
    }

    /// The share that the first of the versions had a week ago; empty where that is not shown.
    private func weekBefore(_ series: [Chart.Series], _ counts: [AppFigures.VersionCount]) -> String {
        let index = period.starts.count - 8
        guard period.step == .day, index >= 0,
            let name = counts.lazy.compactMap(\.version).first,
            let version = series.first(where: { AppVersion($0.name) == AppVersion(name) }),
            let share = version.values[index]
        else { return "" }
        return " \(name) had \(NumberText.percent(share, of: 1)) on \(NumberText.date(period.starts[index])) (UTC)."
    }

    // MARK: - Adoption

    /// How fast the newest release of a platform spreads, beside the one before it.
    private func adoptionChart(_ name: String, _ adoption: AppFigures.Adoption, _ platform: Platform) -> Chart {
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
        let releases = [adoption.newest] + (adoption.previous.map { [$0] } ?? [])
        return Chart(
            name: name,
            question: "How fast does \(adoption.newest.release.version.text) spread on \(platform.displayName)?",
            answer: Self.adoptionAnswer(adoption, platform, elapsed),
            shape: .lines,
            unit: .share,
            axis: .elapsed(axis),
            series: releases.map { Chart.Series(name: $0.release.version.text, values: values($0)) }
                .filter { series in series.values.contains { $0 != nil } }
        )
    }

    private static func adoptionAnswer(
        _ adoption: AppFigures.Adoption,
        _ platform: Platform,
        _ elapsed: Int64
    ) -> String {
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

    // MARK: - Messages

    /// How many checks are answered with a message and with a lockout, with the edits of the app's rules.
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
            name: name,
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
            marks: try Chart.marks(
                HistoryFilter(subject: bundle, since: period.start, ofRules: true, limit: Chart.mostMarks),
                reader.session
            )
        )
    }

    /// The shares of the last step with checks, which tell whether something has just changed.
    private func latest(_ totals: [CheckTotals?]) -> String {
        guard let index = totals.lastIndex(where: { $0 != nil }), let last = totals[index] else { return "" }
        let when =
            period.step == .hour
            ? "In the latest hour with checks" : "On \(NumberText.date(period.starts[index])) (UTC)"
        return " \(when): \(last.messageShare) and \(last.lockoutShare)."
    }

    // MARK: - Systems and regions

    /// Which systems the clients have, by platform and first number.
    private func systemsChart(_ name: String) throws -> Chart {
        var checks: [String: Int64] = [:]
        for system in try reader.systems(of: bundle, in: period) {
            guard let text = system.name, let major = Self.major(of: text) else { continue }
            let platform = system.platform.map { Platform($0).displayName } ?? "(no platform)"
            checks["\(platform) \(major)", default: 0] += system.checks
        }
        return try bars(name, "Which systems do the clients have?", noun: "system", checks)
    }

    private func regionsChart(_ name: String) throws -> Chart {
        var checks: [String: Int64] = [:]
        for region in try reader.regions(of: bundle, in: period) {
            if let name = region.name { checks[name, default: 0] += region.checks }
        }
        return try bars(name, "Where are the clients?", noun: "region", checks)
    }

    /// The first number of a version, without zeros before it; nil where the version cannot be read.
    private static func major(of text: String) -> String? {
        guard AppVersion(text) != nil else { return nil }
        let digits = text.drop { !("0"..."9").contains($0) }.prefix { ("0"..."9").contains($0) }.drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    /// A bar for each of the most frequent names, for all others, and for what is not known.
    private func bars(_ name: String, _ question: String, noun: String, _ checks: [String: Int64]) throws -> Chart {
        let all = try total().checks
        let names = checks.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let known = names.reduce(0) { $0 + $1.value }
        var bars = names.prefix(Self.mostBars).map { ($0.key, $0.value) }
        let others = names.dropFirst(Self.mostBars).reduce(0) { $0 + $1.value }
        if others > 0 { bars.append((Chart.others, others)) }
        if all > known { bars.append(("not known", all - known)) }
        let wholes = bars.map { _ in all }
        return Chart(
            name: name,
            question: question,
            answer: Chart.ranking(
                names.map { (name: $0.key, checks: $0.value) }, noun: noun, unknown: all - known,
                mostNamed: Self.mostNamed, period.text
            ),
            shape: .bars,
            unit: .share,
            axis: .names(bars.map(\.0)),
            series: bars.isEmpty
                ? [] : [Chart.Series(name: "share", values: Chart.shares(bars.map(\.1), of: wholes))],
            checks: wholes
        )
    }
}
