// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyFigures
import PolicyStore
import UpdatePolicy

/// `versiongate rule show`
struct RuleShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a rule with its texts, its planned steps and what its ranges mean.",
        discussion: """
            Example:
              versiongate rule show update-1.2
            """
    )

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await database.read { reports in
            guard let rule = try reports.rule(key) else {
                throw CommandError.noSuchRule(key, among: try PolicyReader.ruleKeys(reports.session))
            }
            switch output.format {
            case .json:
                print(rule.json)
            case .table:
                let now = try CommandClock(reports.session).now
                print(RecordText(rule.fields.compactMap { Self.field($0, of: rule, at: now) }).text)
                if !rule.steps.isEmpty {
                    print("\n" + RampChart(steps: rule.steps, now: now).text)
                }
            }
        }
    }

    /// A field as people read it; nil for the steps, which have a chart.
    private static func field(
        _ field: RecordField,
        of rule: PolicyReports.RuleRecord,
        at now: Timestamp
    ) -> RecordField? {
        guard let value = field.value else { return nil }
        let text: String? =
            switch field.name {
            case "rollout_steps": nil
            case "rollout" where !rule.steps.isEmpty:
                "\(rule.steps.last { $0.at <= now }.map { "\($0.rollout)" } ?? value) % now, then as planned below"
            case "versions", "builds", "os": (try? VersionRange(value)).map { "\(value) (\($0.inWords))" } ?? value
            case "starts_at", "ends_at": Timestamp(value).map { TimeText.local($0, from: now) } ?? value
            default: field.name == "waits_for" ? ChangeWords.local.sentence(value) : value
            }
        return text.map { RecordField(name: field.name, value: $0) }
    }
}
