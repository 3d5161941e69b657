// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import Postgres
import UpdateFeeds
import UpdatePolicy

/// `versiongate release lint`
struct ReleaseLintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Show which update clients misjudge the versions of an app's releases.",
        discussion: """
            Update clients such as iVersion, Siren or upgrader compare versions by themselves, each in its own way. The \
            newest release of each platform, also one that is not live yet, is compared with the other releases and with \
            the versions of the checks of the last \(daysOfChecks) days, as each client compares them and as versiongate \
            does. It is advice: the exit code is 0 whatever is found.

            With --format json: an object with bundle, findings and recommendations. Findings have platform, client, name, \
            kind (asks-nobody, never-asks, asks-in-vain, crashes), cause (pre-release, affix, more-than-three-parts, \
            different-parts, leading-zero, large-number, builds), installed and offered (two versions, an example), others \
            (how many more versions it holds for) and sentence; recommendations have platform and sentence.

            Examples:
              versiongate release lint com.example.doto
              versiongate release lint com.example.doto \\
                --platform ios --format json
            """
    )

    @Argument(help: "The bundle of the app.", completion: .bundles)
    var bundle: String

    @Option(help: "Only this platform.")
    var platform: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    /// How many days of checks are searched for versions in use.
    private static let daysOfChecks = 7

    func run() async throws {
        let (app, lints) = try await database.withConnection(as: .admin) { connection, logger in
            try await connection.transaction(.repeatableReadReadOnly) { session in
                try SchemaMigrator(logger: logger).status(session).requireReadable()
                return try read(session)
            }
        }
        switch output.format {
        case .json: print(json(app, lints))
        case .table: print(text(app, lints, for: .standardOutput))
        }
    }

    /// The app as it spells its bundle, and a lint for each of its platforms, or for the one that is asked for.
    private func read(_ session: PostgresSession) throws -> (app: String, lints: [ReleaseLint]) {
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        guard let app = policy.apps.first else {
            throw try CommandError.noSuchApp(bundle, session)
        }
        let counts = try CountReader(session).dailyCounts(of: app.bundle, days: Self.daysOfChecks)
        let time = try CommandClock(session).now
        let released = Set(
            policy.releases.map { Platform($0.platform) }.filter { $0 == platform.map(Platform.init) ?? $0 }
        )
        return (
            app.bundle,
            released.map(\.name).sorted().map { platform in
                ReleaseLint(
                    platform: platform,
                    releases: policy.releases,
                    versionsInUse: Self.versions(counts.filter { Platform($0.platform ?? "").name == platform }),
                    at: time
                )
            }
        )
    }

    /// The versions among counts, those with most checks first.
    private static func versions(_ counts: [PeriodCount]) -> [String] {
        var checks: [String: Int64] = [:]
        for count in counts {
            if let version = count.version { checks[version, default: 0] += count.checks }
        }
        return checks.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    private func text(_ app: String, _ lints: [ReleaseLint], for terminal: Terminal) -> String {
        guard !lints.isEmpty else {
            let place = platform.map { " on \($0)" } ?? ""
            return terminal.paragraphs(
                "No releases of \(app)\(place). To add one: "
                    + "\(PrintedCommand("release add \(app) VERSION --platform \(platform ?? "PLATFORM")"))"
            ).visible(keepsNewlines: true)
        }
        var table = TextTable("PLATFORM", "CLIENT", "FINDING", named: 2)
        for lint in lints {
            for finding in lint.findings {
                let others =
                    switch finding.others {
                    case 0: ""
                    case 1: " (the same with another version)"
                    default: " (the same with \(finding.others) other versions)"
                    }
                table.add(lint.platform, finding.client.name, finding.sentence + others)
            }
        }
        let recommendations = Dictionary(grouping: lints.filter { $0.recommendation != nil }) {
            $0.recommendation ?? ""
        }
        .map { sentence, lints in "\(lints.map(\.platform).joined(separator: ", ")): \(sentence)" }
        guard !recommendations.isEmpty else { return "No client misjudges these releases." }
        return table.text(for: terminal) + "\n\n"
            + recommendations.sorted().map { terminal.paragraphs($0.visible()) }.joined(separator: "\n")
    }

    private func json(_ app: String, _ lints: [ReleaseLint]) -> String {
        let findings = lints.flatMap { lint in
            lint.findings.map { finding in
                JSONText.object([
                    "platform": JSONText.string(lint.platform), "client": JSONText.string(finding.client.rawValue),
                    "name": JSONText.string(finding.client.name), "kind": JSONText.string(finding.kind.rawValue),
                    "cause": JSONText.string(finding.cause.rawValue),
                    "installed": JSONText.string(finding.installed), "offered": JSONText.string(finding.offered),
                    "others": "\(finding.others)", "sentence": JSONText.string(finding.sentence),
                ])
            }
        }
        let recommendations = lints.compactMap { lint in
            lint.recommendation.map { sentence in
                JSONText.object(["platform": JSONText.string(lint.platform), "sentence": JSONText.string(sentence)])
            }
        }
        return JSONText.object([
            "bundle": JSONText.string(app), "findings": JSONText.array(findings),
            "recommendations": JSONText.array(recommendations),
        ])
    }
}
