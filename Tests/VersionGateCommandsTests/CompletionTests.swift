// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import Postgres
import Subprocess
import TestDatabase
import Testing

@Suite("Completions", .migratedDatabase)
struct CompletionTests {
    @Test("Completions for bash are a script that bash reads, and for the others ones that name every noun")
    func areScripts() async throws {
        let nouns = try await CommandTree.read().command.subcommands ?? []
        for shell in ["bash", "zsh", "fish"] {
            let script = try await BuiltBinary(.current).run("completions \(shell)").output
            for noun in nouns where noun.shouldDisplay != false {
                #expect(script.contains(noun.commandName), "\(shell) does not know \(noun.commandName)")
            }
        }
        #expect(try await bash("bash -n <(versiongate completions bash) && echo fine") == "fine\n")
    }

    /// Words on a command line, the last of which is to be completed, and what it may become.
    static let lines: [(words: String, choices: [String])] = [
        ("versiongate ru", ["rule"]),
        ("versiongate rule en", ["enable"]),
        ("versiongate rule list --form", ["--format"]),
        ("versiongate rule list --format j", ["json"]),
        ("versiongate rule show up", ["update-1.1", "update-1.2"]),
        ("versiongate rule enable update-1.2", ["update-1.2"]),
        ("versiongate history o", ["other"]),
        ("versiongate app show com.", ["com.example.doto"]),
        ("versiongate rule list --bundle c", ["com.example.doto"]),
        ("versiongate block c", ["com.example.doto"]),
        ("versiongate app pause c", ["com.example.doto"]),
        ("versiongate app pause --a", ["--all"]),
        ("versiongate history --one", ["--oneline"]),
        ("versiongate sta", ["stats", "status"]),
        ("versiongate rule show nothing", []),
    ]

    @Test(
        "Completions in bash complete commands, options, keys of rules and bundles of apps",
        .sharedDatabase(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, title, text)
            VALUES ('update-1.1', 't', 'x'), ('update-1.2', 't', 'x'), ('other', 't', 'x');
            """
        ),
        arguments: lines
    )
    func complete(_ words: String, _ choices: [String]) async throws {
        let completed = try await bash(
            """
            source <(versiongate completions bash)
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE='\(words)'; COMP_POINT=${#COMP_LINE}
            $(complete -p versiongate | sed 's/.*-F \\([^ ]*\\) .*/\\1/') \
                versiongate "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        )
        let found = completed.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(found.sorted() == choices)
    }

    @Test("Completions of names are none, at once and without a word, when there is no database")
    func areNoneWithoutADatabase() async throws {
        let folder = TestDatabase.freshFolder()
        for environment in [
            ["VERSIONGATE_STATE_DIR": folder], ["DATABASE_URL": "postgresql://127.0.0.1:1/nothing"],
        ] {
            let binary = BuiltBinary(environment: environment)
            let result = try await binary.run(arguments: [
                "---completion", "rule", "show", "--", "positional@0", "3", "0",
            ])
            #expect(result.status == 0)
            #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
            #expect(result.errors.isEmpty, "\(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    private func bash(_ script: String) async throws -> String {
        let folder = URL(fileURLWithPath: BuiltBinary.path).deletingLastPathComponent().path
        let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        let result = try await run(
            .name("bash"),
            arguments: ["--noprofile", "--norc", "-c", script],
            environment: BuiltBinary(.current).subprocessEnvironment.updating(["PATH": path]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        return result.standardOutput
    }
}
