import PolicyStore
import UpdatePolicy

/// The statistics of an app for people: charts and tables that fit the terminal.
struct StatisticsText {
    private let figures: AppFigures
    private let terminal: Terminal

    private static let mostVersions = 20
    /// The most lines of the chart of versions, the first one.
    private static let mostLines = 31

    init(_ figures: AppFigures, terminal: Terminal) {
        self.figures = figures
        self.terminal = terminal
    }

    /// All of it, without a line break at its end.
    var text: String {
        let charts = figures.charts.map { chart in
            chart.name == "versions"
                ? ChartText(chart, mostLines: Self.mostLines, on: terminal).text : ChartText(chart, on: terminal).text
        }
        var caveats = CountCaveats.tooFew(figures.total.checks) + [CountCaveats.unverified]
        if let merged = figures.merged { caveats += CountCaveats.warnings([merged]) }
        if let unreadable = figures.unreadable { caveats += CountCaveats.warnings([unreadable]) }
        caveats += CountCaveats.warnings(figures.preReleases)
        return
            ([terminal.paragraphs(headline)] + charts.prefix(1) + [platforms, current] + charts.dropFirst() + [
                caveats.map { terminal.paragraphs($0) }.joined(separator: "\n")
            ]).joined(separator: "\n\n")
    }

    private var headline: String {
        "\(figures.bundle): \(NumberText.checks(figures.total.checks)) in \(figures.period.text), "
            + "\(figures.total.messageShare) with a message, \(figures.total.lockoutShare) locked out"
    }

    private var platforms: String {
        var table = TextTable("PLATFORM", "CHECKS", "SHARE")
        for platform in figures.platforms {
            let share = Double(platform.checks) / Double(figures.total.checks)
            table.add(
                cells: [
                    platform.platform ?? "(unknown)", NumberText.count(platform.checks),
                    NumberText.share(Double(platform.checks), of: Double(figures.total.checks)),
                ],
                bar: Bar([(share, "#", .green)])
            )
        }
        return table.text(for: terminal)
    }

    private var current: String {
        let all = Double(figures.currentChecks)
        var table = TextTable("VERSION", "PLATFORM", "CHECKS", "SHARE")
        func add(_ version: String, _ platform: String, _ checks: Int64) {
            let cells = [version, platform, NumberText.count(checks), NumberText.share(Double(checks), of: all)]
            table.add(cells: cells, bar: Bar([(Double(checks) / all, "#", .green)]))
        }
        for version in figures.current.prefix(Self.mostVersions) {
            add(version.version ?? "(unknown)", version.platform ?? "(unknown)", version.checks)
        }
        let others = figures.current.dropFirst(Self.mostVersions)
        if !others.isEmpty { add("\(others.count) more", "", others.reduce(0) { $0 + $1.checks }) }
        return "Checks since \(TimeText.local(figures.currentSince)):\n" + table.text(for: terminal)
    }
}
