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
                throw try CommandError.noSuchRule(key, reports.session)
            }
            switch output.format {
            case .json:
                print(rule.json)
            case .table:
                let now = try CommandClock(reports.session).now
                let fields = rule.fields.compactMap { Self.field($0, of: rule, at: now) }
                print(RecordText(try Self.facts(rule, at: now, reports) + fields).text)
                if !rule.steps.isEmpty {
                    print("\n" + RampChart(steps: rule.steps, now: now).text)
                }
            }
        }
    }

    /// What is so about the rule, and whom it is for.
    private static func facts(
        _ record: PolicyReports.RuleRecord,
        at now: Timestamp,
        _ reports: PolicyReports
    ) throws -> [RecordField] {
        let bundle = record.fields.first { $0.name == "bundle" }?.value
        let key = record.fields.first { $0.name == "key" }?.value
        let listed = try reports.rules(bundle: bundle, at: now)
        guard let (rule, status) = listed.first(where: { $0.rule.key == key }) else { return [] }
        let reason = status.reason.map { ": \(ChangeWords.local.sentence($0))" } ?? ""
        return [
            RecordField(name: "status", value: status.name.rawValue + reason),
            RecordField(name: "next", value: status.next.map { TimeText.local($0, from: now) }),
            RecordField(name: "who", value: rule.audience),
        ]
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
            default: value
            }
        return text.map { RecordField(name: field.name, value: $0) }
    }
}
