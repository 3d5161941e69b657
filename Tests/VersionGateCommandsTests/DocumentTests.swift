import Foundation
import TestDatabase
import TestFeeds
import TestRandom
import TestSystem
import Testing
import UpdateFeeds

/// The pages of the documentation, each carried out from its beginning to its end.
@Suite("Documents", .timeLimit(.minutes(20)))
struct DocumentTests {
    private static let pages: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: RepositoryFile.url("Documentation").path)
        return ["README.md"]
            + (files ?? []).filter { $0.hasSuffix(".md") }.map { "Documentation/\($0)" }.sorted()
    }()

    /// Pages with something to carry out.
    private static let active = pages.filter { page in
        (try? MarkdownBlock.all(in: page).contains { isCarriedOut($0, of: page) }) ?? true
    }

    private static let ourLanguages: Set = ["sh", "sql", "console"]

    /// What other programs read.
    private static let foreignLanguages: Set = [
        "caddyfile", "crontab", "dart", "ini", "mermaid", "nginx", "objc", "pg_hba", "swift", "xml", "yaml",
    ]

    /// Blocks that are not carried out here: the page, how they begin, and why, or what holds them.
    private static let others: [(page: String, beginning: String, reason: String)] = [
        ("CommandLine", "source <(versiongate --generate-completion-script bash)", "CompletionTests"),
        ("CommandLine", "deploy/recipes/each-change", "RecipeTests, which end it"),
        ("Gateways", "versiongate serve --host", "SettingTests; the address is none of this machine"),
        ("Install", "CREATE ROLE versiongate_owner", "DeploymentTests"),
        ("Install", "export DATABASE_URL", "DeploymentTests"),
        ("Install", "\\password versiongate_server", "DeploymentTests"),
        ("CommandLine", "versiongate user add", "UserCommandTests, which may add roles"),
        ("Install", "$ versiongate user add anna", "UserCommandTests, which may add roles"),
        ("Install", "sudo systemctl enable", "Tests/SystemdTests"),
        ("Install", "versiongate serve --port 443", "TLSTests; only root may listen there"),
        ("Install", "docker build", "takes Docker"),
        ("Install", "docker run", "takes Docker"),
        ("Install", "kubectl", "takes Kubernetes"),
        ("Operations", "versiongate serve --management-host", "PagesTests; the address is none of this machine"),
        ("Operations", "versiongate brake on", "Tests/Cases/server/brake.case"),
        ("Operations", "versiongate lockout-key new", "LockoutKeyTests"),
        ("Operations", "$ openssl s_client", "takes a server with TLS: TLSTests"),
        ("Operations", "export DATABASE_URL", "BackupTests"),
        ("Operations", "script/database restore", "BackupTests"),
        ("PolicyFile", "Error: policy.yaml:9:15", "Tests/Cases/commands/policy-file.case has such errors"),
        ("SQL", "SELECT brake_rule", "Tests/Cases/sql/role-brake.case"),
        (
            "SQL", "BEGIN;\nUPDATE rules SET enabled = true WHERE key = 'update-2.4'",
            "Tests/Cases/sql/role-planner.case"
        ),
        ("Upgrade", "GRANT versiongate_viewer", "UserCommandTests, which may add roles"),
        ("Upgrade", "CREATE ROLE versiongate_server_2", "UserCommandTests, which may add roles"),
    ]

    private static func isElsewhere(_ block: MarkdownBlock, of page: String) -> Bool {
        others.contains { $0.page == PageStage.name(page) && block.text.hasPrefix($0.beginning) }
    }

    private static func isCarriedOut(_ block: MarkdownBlock, of page: String) -> Bool {
        (ourLanguages.contains(block.language) || block.isPolicy) && !isElsewhere(block, of: page)
    }

    @Test("Each block is carried out, is what another program reads, or is named above")
    func areKnown() throws {
        var named: Set<String> = []
        for page in Self.pages {
            for block in try MarkdownBlock.all(in: page) {
                named.formUnion(
                    Self.others.filter { $0.page == PageStage.name(page) && block.text.hasPrefix($0.beginning) }
                        .map(\.beginning)
                )
                let isKnown =
                    Self.ourLanguages.union(Self.foreignLanguages).contains(block.language)
                    || Self.isElsewhere(block, of: page)
                #expect(isKnown, "\(page):\(block.line): nothing is known of \"\(block.language)\"")
                #expect(
                    block.answer == nil || ["sh", "sql"].contains(block.language),
                    "\(page):\(block.line): there is nothing that the block below answers"
                )
            }
        }
        #expect(named == Set(Self.others.map(\.beginning)))
    }

    @Test(
        "A page is true: what it says to type is typed, and answered as it shows", .whole, .migratedDatabase,
        arguments: active)
    func isTrue(_ page: String) async throws {
        try await PageStage.with(page) { stage in
            for block in try MarkdownBlock.all(in: page) where Self.isCarriedOut(block, of: page) {
                try await stage.carryOut(block)
            }
            try await Self.explain(page, stage)
            for (question, answer) in Self.outcomes[PageStage.name(page)] ?? [] {
                let client = "bundle=com.example.doto platform=ios os=17"
                let check = "versiongate check --format json \(question) \(client) 2> errors"
                let result = try await stage.run(
                    "\(check) | jq --compact-output --monochrome-output '[.messages[] | [.id, .lockout]]'")
                #expect(result.output == "\(answer)\n", "\(question)")
            }
        }
    }

    /// What clients get when a page is over, and got at its revisions.
    private static let outcomes = [
        "QuickStart": [
            ("--revision 7 version=1.1", #"[["block-1.1",true]]"#),
            ("--revision 8 --at +25h version=1.1", #"[["update-1.2",null]]"#), ("version=1.1", "[]"),
        ]
    ]

    /// Carries out the rows of a table that names commands, what they print, and commands that end that.
    private static func explain(_ page: String, _ stage: PageStage) async throws {
        let rows = try MarkdownTable.all(in: page).flatMap(\.rows).filter { !$0["command that shows it"].codes.isEmpty }
        if !rows.isEmpty { try stage.brake() }
        for row in rows {
            let (command, shown) = (row["command that shows it"].value, row["it prints"].value)
            func shows() async throws -> Bool {
                let words = try await stage.run(command).output.split(separator: " ", omittingEmptySubsequences: true)
                return words.joined(separator: " ").contains(shown)
            }
            try await Poll.until("\(command) to show \(shown)") { try await shows() }
            guard let cure = row["then"].codes.first(where: { $0.hasPrefix("versiongate ") }) else { continue }
            #expect(try await stage.run(cure).status == 0, "\(cure)")
            if cure.contains("--yes") { #expect(try await !shows(), "\(cure)") }
        }
    }

    @Test("Other gates read from the file that replaces theirs what the policy says", .whole, .migratedDatabase)
    func replace() async throws {
        let page = "Documentation/ComingFrom.md"
        try await PageStage.with(page) { stage in
            for block in try MarkdownBlock.all(in: page) where block.language == "sh" {
                try await stage.carryOut(block)
            }
            func expect(_ reader: GateReader, _ decisions: [ReaderDecision]) async throws {
                let command = "versiongate feed show com.example.doto version.json platform=ios"
                let document = Data(try await stage.run(command).output.utf8)
                let decided = ["1.0", "1.1", "1.2.9", "1.3"].map { version in
                    reader.decision(document, ReaderHost(version: version, build: 10, os: "17", platform: "ios"))
                }
                #expect(decided == decisions, "\(reader)")
            }
            let (prompt, nothing) = (ReaderDecision.prompt("1.3"), ReaderDecision.nothing)
            // Apple tells AppGateKit which version is the newest.
            let asks: [(reader: GateReader, prompt: ReaderDecision)] = [
                (.firebase, prompt), (.appGateKit, nothing), (.appUpdateKit, prompt),
            ]
            #expect(asks.map(\.reader) == GateReader.allCases)
            for (reader, ask) in asks { try await expect(reader, [.lockout("1.1"), ask, ask, nothing]) }
            #expect(try await stage.run("versiongate rule disable minimum --yes").status == 0)
            for (reader, ask) in asks { try await expect(reader, [ask, ask, ask, nothing]) }
            #expect(try await stage.run("versiongate app pause com.example.doto --yes").status == 0)
            for (reader, _) in asks { try await expect(reader, [nothing, nothing, nothing, nothing]) }
        }
    }

    @Test(
        "Clients read from the page of feeds what its policy says, and nothing while the app is paused", .whole,
        .migratedDatabase)
    func decide() async throws {
        let page = "Documentation/Feeds.md"
        let blocks = try MarkdownBlock.all(in: page)
        let shown = blocks.flatMap(\.samples).map(\.command)
        for format in FeedFormat.allCases.map(\.rawValue) + TemplateReader.allCases.map(\.rawValue) {
            #expect(shown.contains { $0.contains(" com.example.doto \(format)") }, "no document of \(format)")
        }
        try await PageStage.with(page) { stage in
            for block in blocks where block.language == "sh" { try await stage.carryOut(block) }
            func decisions(_ reader: TemplateReader) async throws -> [ReaderDecision] {
                let command = "versiongate feed show com.example.doto \(reader.rawValue) platform=android"
                let document = Data(try await stage.run(command).output.utf8)
                return ["1.0.0", "1.1.0", "1.2.0"].map { version in
                    reader.decision(document, ReaderHost(version: version, build: 10, os: "14", platform: "android"))
                }
            }
            let (prompt, nothing) = (ReaderDecision.prompt("1.2.0"), ReaderDecision.nothing)
            #expect(try await decisions(.minimumVersion) == [.lockout("1.1.0"), prompt, nothing])
            #expect(try await decisions(.appUpdaterJSON) == [prompt, prompt, nothing])
            #expect(try await decisions(.appUpdaterXML) == [prompt, prompt, nothing])
            #expect(try await decisions(.androidSiren) == [.lockout("1.1.0"), nothing, nothing])
            for (edit, decided) in [
                ("rule disable security-1.1", [prompt, prompt, nothing]),
                ("app pause com.example.doto", [nothing, nothing, nothing]),
            ] {
                #expect(try await stage.run("versiongate \(edit) --yes").status == 0)
                for reader in TemplateReader.allCases {
                    #expect(try await decisions(reader) == decided, "\(reader) after \(edit)")
                }
            }
        }
    }
}
