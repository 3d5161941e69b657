import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate rule ramp`
struct RuleRampCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ramp",
        abstract: "Plan a rule's rollout in steps, each from its time on.",
        discussion: """
            The steps replace those that were planned before, and a hold ends. Nobody needs to be awake for them: the clock at the \
            time of a check decides. Until the first of them, an enabled rule keeps its present share.

            Examples:
              versiongate rule ramp update-1.2 5%@now 25%@+1h 100%@+24h
              versiongate rule ramp update-1.2 --clear
            """
    )

    /// A percentage and the time from which it holds: `25%@+1h`.
    struct Step: Sendable {
        let percent: PercentArgument
        let time: TimeArgument

        /// Reads a step.
        static func parse(_ argument: String) throws -> Step {
            let halves = argument.split(separator: "@", omittingEmptySubsequences: false)
            guard halves.count == 2, halves[0].first?.isNumber == true || halves[0].hasPrefix("-") else {
                throw CommandError("write a percentage, \"@\" and the time from which on it holds: 25%@+1h")
            }
            return Step(
                percent: try PercentArgument.parse(String(halves[0])),
                time: try TimeArgument.parse(String(halves[1]))
            )
        }
    }

    @Argument(help: "The key of the rule.", completion: .ruleKeys)
    var key: String

    @Argument(
        help: ArgumentHelp("The steps; percentages never fall over time.", valueName: "percent@time"),
        transform: Step.parse
    )
    var steps: [Step] = []

    @Flag(help: "Remove the planned steps and keep the percentage that is in force now.")
    var clear = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: EditOptions

    func validate() throws {
        if clear != steps.isEmpty {
            throw ValidationError("Give the steps of the ramp (5%@now 100%@+24h), or --clear to remove them.")
        }
    }

    func run() async throws {
        try await options.edit(on: database, values: { ($0.now, try moments($0)) }) { editor, times in
            let (now, moments) = times
            try editor.edit(rule: key)
            if clear {
                try editor.keepRolloutInForce(rule: key)
            } else {
                try editor.ramp(rule: key, zip(steps, moments).map { (time: $1, percent: $0.percent.number) }, now: now)
            }
        }
    }

    /// When the steps are.
    private func moments(_ clock: CommandClock) throws -> [Timestamp] {
        let moments = try steps.map { try clock.moment($0.time, of: "step \($0.percent.number)%") }
        if let again = moments.indices.first(where: { moments[..<$0].contains(moments[$0]) }) {
            throw CommandError("two steps are at \(TimeText.local(moments[again])); leave one of them out")
        }
        return moments
    }
}
