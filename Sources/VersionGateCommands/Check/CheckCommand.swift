// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// `versiongate check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show the answer for a client, and why.",
        discussion: """
            The members are those of the request: bundle, version, build, platform, region, os, language, install, \
            and any attribute that rules use.

            Examples:
              versiongate check bundle=com.example.doto version=1.1 \\
                platform=ios
              versiongate check --explain --at +2h \\
                bundle=com.example.doto version=1.1 platform=ios
              versiongate check --revision 41 bundle=com.example.doto \\
                version=1.1 platform=ios
              versiongate check --server http://127.0.0.1:8080 \\
                bundle=com.example.doto version=1.1

            --revision uses the policy as it stood, --at moves the clock; neither changes the other.
            """
    )

    @Flag(help: "Say of each rule whether it is sent, and why.")
    var explain = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Ask as if it were this time.", valueName: "time"),
        transform: TimeArgument.parse
    )
    var at: TimeArgument?

    @Option(help: ArgumentHelp("Ask the policy as it stood at this revision.", valueName: "number"))
    var revision: Int64?

    @Option(help: ArgumentHelp("Ask a running server instead of the database.", valueName: "url"))
    var server: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    @Argument(
        help: ArgumentHelp("What the client sends.", valueName: "member=value"),
        transform: NamedValue.member
    )
    var members: [NamedValue]

    func validate() throws {
        if server != nil, explain || at != nil || revision != nil {
            throw ValidationError(
                "A server answers with today's policy and clock; leave out --explain, --at and --revision, or --server."
            )
        }
        if let server { try RemoteCheck.requireAddress(server) }
        if let revision, revision < 0 {
            throw ValidationError("There is no revision \(revision); revisions are counted from 0 on.")
        }
        _ = try client()
    }

    func run() async throws {
        let client = try client()
        if let server {
            CheckRemarks(client, in: nil).print()
            try show(answer: try await RemoteCheck(server: server, members: members).answer())
            return
        }
        let (contents, time) = try await database.policy(revision: revision) { clock in
            try at.map { try clock.moment($0, of: "--at") } ?? clock.now
        }
        CheckRemarks(client, in: contents).print()
        let policy = try CompiledPolicy(contents)
        guard explain else {
            try show(answer: String(decoding: policy.answer(to: client, at: time).body, as: UTF8.self))
            return
        }
        let explanation = ExplanationText(policy, client, at: time)
        switch output.format {
        case .json: print(explanation.json)
        case .table: print(explanation.text(on: .standardOutput))
        }
    }

    /// Prints the body of an answer, whether a server sent it or this process made it.
    private func show(answer: String) throws {
        switch output.format {
        case .json: print(JSONText.visible(answer))
        case .table: print(try MessagesText(answer: answer).text)
        }
    }

    private func client() throws -> Client {
        var client = Client()
        do throws(ClientError) {
            for member in members {
                try client.set(UTF8Text(member.name), to: .text(UTF8Text(member.value)))
            }
            try client.validate()
        } catch {
            throw ValidationError("\(error)")
        }
        return client
    }
}
