import ArgumentParser
import PolicyServer

/// `versiongate brake on`
struct BrakeOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Send every lockout as a plain message from now on.",
        discussion: """
            Gateways let every client pass, and feeds demand no version. What was counted before stays. A client that \
            cannot reach a server keeps its lockout, for at most 7 days.

            Examples:
              versiongate brake on --why "incident 42"
              sudo versiongate brake on \\
                --state-dir /var/lib/versiongate
            """
    )

    @OptionGroup var place: BrakeOptions

    func run() async throws {
        try place.change("on") { file, why in
            let saysWhy = try file.putOn(why: why)
            return "The brake is on: servers that watch \(file.path) send lockouts as plain messages within a second."
                + (saysWhy ? "" : " The disk is full, so nothing says why.") + " To take it off: \(file.release)"
        }
    }
}
