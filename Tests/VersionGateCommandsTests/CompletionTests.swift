import Foundation
import Postgres
import Subprocess
import TestDatabase
import TestRandom
import Testing

@Suite("Completions", .migratedDatabase)
struct CompletionTests {
    @Test("Completions for bash are a script that bash reads, and for the others ones that name every noun", .whole)
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
        ("versiongate impact ot", ["other"]),
        ("versiongate stats com", ["com.example.doto"]),
        ("versiongate undo 1", ["1"]),
        ("versiongate undo --to 1", ["1"]),
        ("versiongate history 1", ["1"]),
        ("versiongate history --by vers", ["versiongate"]),
        ("versiongate export --revision 1", ["1"]),
        ("versiongate check --revision 1", ["1"]),
        ("versiongate check pl", ["platform="]),
        ("versiongate check bundle = com.e", ["com.example.doto"]),
        ("versiongate check bundle = com.example.doto pl", ["platform="]),
        ("versiongate check bundle = com.example.doto platform = an", ["android"]),
        ("versiongate check bundle = com.example.doto version =", ["1.1", "1.2"]),
        ("versiongate rule list --bundle = com.e", ["com.example.doto"]),
        ("versiongate release edit com.example.doto 1", ["1.1", "1.2"]),
        ("versiongate release add com.example.doto 1.3 --platform io", ["ios"]),
        ("versiongate block com.example.doto 1", ["1.1", "1.2"]),
        ("versiongate block com.example.doto 1.1 --platform io", ["ios"]),
        ("versiongate rule add k --bundle com.example.doto --target 1", ["1.1", "1.2"]),
        ("versiongate feed show com.example.doto v", ["versions.json"]),
        ("versiongate feed show com.example.doto upd", ["updates.json"]),
        ("versiongate feed show com.example.doto updates.json plat", ["platform="]),
        ("versiongate feed template remove com.example.doto v", ["versions.json"]),
        ("versiongate plan /etc/os-rel", ["/etc/os-release"]),
        ("versiongate apply /etc/os-rel", ["/etc/os-release"]),
        ("versiongate export --output /etc/os-rel", ["/etc/os-release"]),
        ("versiongate feed template set com.example.doto v.json /etc/os-rel", ["/etc/os-release"]),
        ("versiongate serve --tls-certificate /etc/os-rel", ["/etc/os-release"]),
    ]

    @Test(
        "Completions in bash complete commands, options, and the names of all that is in the database",
        .whole,
        .sharedDatabase(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.doto');
            INSERT INTO rules (key, title, text)
            VALUES ('update-1.1', 't', 'x'), ('update-1.2', 't', 'x'), ('other', 't', 'x');
            INSERT INTO releases (bundle, platform, version, live_at)
            VALUES ('com.example.doto', 'ios', '1.1', now()), ('com.example.doto', 'android', '1.2', now());
            INSERT INTO feed_templates VALUES ('com.example.doto', 'versions.json', 'text/plain', 'x');
            """
        ),
        arguments: lines
    )
    func complete(_ words: String, _ choices: [String]) async throws {
        let completed = try await bash(
            """
            source <(versiongate completions bash)
            # As bash parts them, at each equals sign too, where the word to complete is empty.
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE='\(words.replacing(#/ ?= ?/#, with: "="))'; COMP_POINT=${#COMP_LINE}
            $(complete -p versiongate | sed 's/.*-F \\([^ ]*\\) .*/\\1/') \
                versiongate "${COMP_WORDS[COMP_CWORD]#=}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        )
        let found = completed.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(found.sorted() == choices)
    }

    /// What there is not before the command, and what is no name of something.
    private static let newNames: Set<String> = [
        "app add bundle", "release add version", "rule add key", "block key", "release add min-os",
        "release edit min-os",
    ]

    @Test("Completions are there for each argument that names what there is")
    func areForAllNames() async throws {
        let names: Set<String> = [
            "bundle", "key", "platform", "version", "change", "file", "key|bundle|change", "member=value",
            "revision|time",
        ]
        for leaf in try await CommandTree.read().leaves {
            for argument in leaf.command.arguments ?? [] where names.contains(argument.valueName ?? "") {
                let name = "\(leaf.testDescription) \(argument.preferredName?.name ?? argument.valueName ?? "")"
                guard argument.shouldDisplay != false, !Self.newNames.contains(name) else { continue }
                #expect(argument.completionKind != nil, "\(name)")
            }
        }
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
            .name("bash"), arguments: ["--noprofile", "--norc", "-c", script],
            environment: BuiltBinary(.current).subprocessEnvironment.updating(["PATH": path]),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
        return result.standardOutput
    }
}
