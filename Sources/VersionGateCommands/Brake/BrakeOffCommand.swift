import ArgumentParser
import PolicyServer

/// `versiongate brake off`
struct BrakeOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract: "Send lockouts as such again.",
        discussion: """
            They are those that the policy has by now, which were approved when they were enabled.

            Example:
              versiongate brake off --why "the rule is disabled"
            """
    )

    @OptionGroup var place: BrakeOptions

    func run() async throws {
        try place.change("off") { file, _ in
            try file.takeOff()
                ? "The brake is off: servers that watch \(file.path) send lockouts again within a second."
                : "The brake was off already: there is no \(file.path)."
        }
    }
}
