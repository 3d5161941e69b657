// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule ramp`
struct RuleRampCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ramp",
        abstract: "Plan a rule's rollout in steps, each from its time on.",
        discussion: """
            The steps replace those that were planned before. Nobody needs to be awake for them: the clock at the \
            time of a check decides.

            Examples:
              versiongate rule ramp update-1.2 5%@now 25%@+1h 100%@+24h
              versiongate rule ramp update-1.2 --clear
            """
    )

    /// A percentage and the time from which it holds: `25%@+1h`.
    struct Step: ExpressibleByArgument, Sendable {
        let percent: PercentArgument
        let time: TimeArgument

        init?(argument: String) {
            let halves = argument.split(separator: "@", omittingEmptySubsequences: false)
            guard halves.count == 2, let percent = PercentArgument(argument: String(halves[0])),
                let time = TimeArgument(argument: String(halves[1]))
            else { return nil }
            self.percent = percent
            self.time = time
        }
    }

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(help: ArgumentHelp("The steps; percentages never fall over time.", valueName: "percent@time"))
    var steps: [Step] = []

    @Flag(help: "Remove the planned steps and keep the percentage that is in force now.")
    var clear = false

    @OptionGroup var options: EditOptions

    func validate() throws {
        if clear != steps.isEmpty {
            throw ValidationError("Give the steps of the ramp (5%@now 100%@+24h), or --clear to remove them.")
        }
    }

    func run() async throws {
        let now = Timestamp.now()
        try await options.edit { editor in
            guard try editor.update(.rules, where: [.text("key", key)], set: []) > 0 else {
                throw CommandError.noSuchRule(key)
            }
            if clear {
                try editor.keepRolloutInForce(rule: key)
            } else {
                try editor.delete(.rolloutSteps, where: [.text("rule", key)])
                for step in steps {
                    try editor.insert(
                        .rolloutSteps,
                        [
                            .text("rule", key), .time("at", step.time.timestamp(now: now).description),
                            .numeric("rollout", step.percent.number),
                        ]
                    )
                }
            }
        }
    }
}
