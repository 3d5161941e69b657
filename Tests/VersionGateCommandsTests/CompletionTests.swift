import Foundation
import TestRandom
import Testing

@Suite("Completions")
struct CompletionTests {
    @Test("Completions for bash, zsh and fish are scripts that name every noun", .whole)
    func areScripts() async throws {
        let nouns = try await CommandTree.read().command.subcommands ?? []
        for shell in ["bash", "zsh", "fish"] {
            let script = try await BuiltBinary(environment: [:]).run("--generate-completion-script \(shell)").output
            for noun in nouns where noun.shouldDisplay != false {
                #expect(script.contains(noun.commandName), "\(shell) does not know \(noun.commandName)")
            }
        }
    }

    @Test(
        "Completions in bash complete commands, options and files",
        .whole,
        arguments: [
            ("ru", ["rule"]), ("rule en", ["enable"]), ("rule list --form", ["--format"]),
            ("rule list --format j", ["json"]), ("app pause --a", ["--all"]), ("sta", ["stats", "status"]),
            ("plan /etc/os-rel", ["/etc/os-release"]), ("export --output /etc/os-rel", ["/etc/os-release"]),
            ("serve --tls-certificate /etc/os-rel", ["/etc/os-release"]),
        ]
    )
    func complete(_ words: String, _ choices: [String]) async throws {
        let completed = try await bash(
            """
            source <(versiongate --generate-completion-script bash)
            COMP_WORDS=(versiongate \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE='versiongate \(words)'; COMP_POINT=${#COMP_LINE}
            _versiongate versiongate "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        )
        let found = completed.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(found.sorted() == choices)
    }

    private func bash(_ script: String) async throws -> String {
        let folder = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
        let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        let result = try await BuiltBinary(environment: ["PATH": path]).shell(script)
        try #require(result.status == 0, "\(result.errors)")
        return result.output
    }
}
