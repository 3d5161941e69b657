// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import UpdateFeeds
import UpdatePolicy

/// `versiongate rule reach`
struct RuleReachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Show what other update clients learn of a rule.",
        discussion: """
            Update clients such as iVersion or Sparkle read documents that say less than a rule: see versiongate feed. For \
            each of them on the platforms of the rule and the app this says what survives of the rule now, and what is lost. \
            The clients say nothing of themselves; with members in the address, as version=1.1, a document may say more.

            With --format json: an array of objects with bundle, platform, client, feed, announced and demanded (all, none, \
            or the least version of the system: {"os": "15"}), and sentences.

            Examples:
              versiongate rule reach update-1.2
              versiongate rule reach update-1.2 --format json
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Option(help: "Only in this app, for a rule for every app.", completion: .bundles)
    var bundle: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    /// The reach of the rule in the documents of an app.
    private typealias AppReach = (bundle: String, reach: [FeedReach])

    func run() async throws {
        let (contents, time) = try await database.read { reports in
            (try PolicyReader.policy(reports.session), try CommandClock(reports.session).now)
        }
        guard let rule = contents.rules.first(where: { UTF8Text($0.key) == UTF8Text(key) }) else {
            throw CommandError.noSuchRule(key, among: contents.rules.map(\.key))
        }
        let policy = try CompiledPolicy(contents)
        let apps = try apps(of: rule, in: policy)
        let reach = apps.map { bundle -> AppReach in
            (bundle, FeedReach.reach(of: rule.key, toApp: bundle, in: policy, at: time) ?? [])
        }
        switch output.format {
        case .json: print(json(reach))
        case .table: print(text(reach, for: .standardOutput))
        }
    }

    private func apps(of rule: Rule, in policy: CompiledPolicy) throws -> [String] {
        let bundles = policy.policy.apps.map(\.bundle)
        guard let bundle else { return rule.bundle.map { [$0] } ?? bundles }
        guard let app = policy.section(ofApp: bundle)?.app?.bundle else {
            throw CommandError.noSuchApp(bundle, among: bundles)
        }
        guard rule.bundle == nil || rule.bundle == app else {
            throw CommandError("the rule \(key) is not for \(app), but for \(rule.bundle ?? ""); leave --bundle out")
        }
        return [app]
    }

    private func text(_ apps: [AppReach], for terminal: Terminal) -> String {
        guard !apps.isEmpty else { return "There are no apps. To add one: \(PrintedCommand("app add BUNDLE"))" }
        return apps.map { bundle, reach in text(bundle, reach, terminal) }.joined(separator: "\n\n")
    }

    private func text(_ bundle: String, _ reach: [FeedReach], _ terminal: Terminal) -> String {
        guard !reach.isEmpty else {
            return terminal.paragraphs(
                ("\(bundle) has no release on a platform of the rule that update clients read documents on. "
                    + "To add one: \(PrintedCommand("release add \(bundle) VERSION --platform PLATFORM"))").visible()
            )
        }
        if !reach.contains(where: \.survives) {
            // Each reason once, in the order of clients.
            let reasons = reach.flatMap { $0.sentences.dropFirst() }.reduce(into: [String]()) { reasons, reason in
                if !reasons.contains(reason) { reasons.append(reason) }
            }.joined(separator: " ")
            return terminal.paragraphs(
                "Nothing of \(key) survives in the documents of \(bundle). \(reasons)".visible()
            )
        }
        var lines = [terminal.paragraphs("What update clients of \(bundle) learn of \(key):".visible())]
        for platform in Set(reach.map(\.platform)).sorted() {
            lines.append("\n\(platform)")
            // Clients of which the same is true share a paragraph.
            var groups: [(sentences: [String], clients: [String])] = []
            for entry in reach where entry.platform == platform {
                if let index = groups.firstIndex(where: { $0.sentences == entry.sentences }) {
                    groups[index].clients.append(entry.client)
                } else {
                    groups.append((entry.sentences, [entry.client]))
                }
            }
            lines += groups.map { group in
                let clients = terminal.styled(group.clients.joined(separator: ", "), .bold)
                return terminal.paragraphs(
                    "  \(clients): \(group.sentences.joined(separator: " ").visible())",
                    indentation: "    "
                )
            }
        }
        return lines.joined(separator: "\n")
    }

    private func json(_ apps: [AppReach]) -> String {
        JSONText.array(
            apps.flatMap { bundle, reach in
                reach.map { entry in
                    let reader = entry.reader.map { "?for=\($0.rawValue)" } ?? ""
                    return JSONText.object([
                        "bundle": JSONText.string(bundle), "platform": JSONText.string(entry.platform),
                        "client": JSONText.string(entry.client),
                        "feed": JSONText.string(entry.format.name + reader),
                        "announced": Self.json(entry.announced), "demanded": Self.json(entry.demanded),
                        "sentences": "[" + entry.sentences.map(JSONText.string).joined(separator: ",") + "]",
                    ])
                }
            }
        )
    }

    private static func json(_ extent: FeedReach.Extent) -> String {
        switch extent {
        case .all: JSONText.string("all")
        case .versions(let newest, let system):
            JSONText.object(["below": JSONText.string(newest), "os": system.map(JSONText.string) ?? "null"])
        case .systems(let least): JSONText.object(["os": JSONText.string(least)])
        case .none: JSONText.string("none")
        }
    }
}
