import TestDatabase
import Testing

@Suite("Command hints", .migratedDatabase)
struct CommandHintTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func addRule(_ key: String, _ options: String...) async throws -> BuiltBinary.Result {
        try await versiongate.run(
            arguments: ["rule", "add", key, "--title", "T", "--text", "X"]
                + options.flatMap { $0.split(separator: " ").map(String.init) }
        )
    }

    @Test("A hint is the right command for what rule edit does not change, and never a lockout")
    func ruleEdit() async throws {
        for (options, command) in [
            ("--rollout 20", "versiongate rule rollout k 20"), ("--rollout=20%", "versiongate rule rollout k 20%"),
            ("--enabled", "versiongate rule enable k"), ("--enable", "versiongate rule enable k"),
            ("--disable", "versiongate rule disable k"),
        ] {
            let result = try await versiongate.run("rule edit k \(options)")
            #expect(result.status == 64)
            #expect(result.errors.contains(command), "\(result.errors)")
            #expect(!result.errors.contains("--lockout'"), "\(result.errors)")
        }
        #expect(!(try await versiongate.run("rule edit --help").output.contains("--rollout")))
    }

    @Test("A hint is how to change what exists already")
    func existing() async throws {
        #expect(try await versiongate.run("app add com.example.doto").status == 0)
        for bundle in ["com.example.doto", "com.example.DOTO"] {
            let app = try await versiongate.run("app add \(bundle)")
            #expect(app.status == 1)
            #expect(app.errors.contains("there is an app \(bundle) already; "), "\(app.errors)")
            #expect(app.errors.contains("versiongate app edit \(bundle) --name NAME --store-link ios=https://..."))
            #expect(!app.errors.contains("duplicate key"))
        }
        #expect(try await addRule("k").status == 0)
        let rule = try await addRule("k")
        #expect(rule.status == 1)
        #expect(rule.errors.contains("there is a rule k already; "), "\(rule.errors)")
        #expect(rule.errors.contains("`versiongate rule edit k --title TITLE --text TEXT` changes it"))
    }

    @Test("A hint names no rule that a dry run did not add, and what differs from a release that is there")
    func namesWhatIsThere() async throws {
        let added = try await addRule("k", "--dry-run")
        #expect(added.status == 0 && added.output.contains("+ rule k"), "\(added)")
        #expect(!added.output.contains("rule edit k"), "\(added.output)")
        try await TestDatabase.current.edit(
            "INSERT INTO apps (bundle) VALUES ('a')",
            "INSERT INTO releases (bundle, platform, version, min_os, live_at) VALUES ('a', 'ios', '1.2', '14', '2026-01-01Z')"
        )
        let release = try await versiongate.run(
            "release add a 1.2 --platform ios --min-os 15 --staged --build 7 --if-absent"
        )
        let edit = "release edit a 1.2 --platform ios --min-os 15 --set-build 7 --staged"
        let words = release.errors.split(separator: "versiongate ").last?.split(whereSeparator: \.isWhitespace) ?? []
        #expect(Set(words) == Set(edit.split(separator: " ")), "\(release.errors)")
        let made = try await versiongate.run("\(words.joined(separator: " ")) --yes")
        #expect(made.status == 0, "\(made.errors)")
    }

    @Test("A hint is a command where the database's own hint is SQL")
    func commands() async throws {
        let unknown = try await versiongate.run("release add com.example.doto 1.2 --platform ios")
        #expect(unknown.errors.contains("Hint: Add it first: versiongate app add BUNDLE\n"), "\(unknown.errors)")
        let rule = try await addRule("k", "--bundle com.example.doto")
        #expect(rule.errors.contains("versiongate app add BUNDLE. Without --bundle a rule is for every app."))
        _ = try await addRule("k")
        #expect(try await versiongate.run("rule ramp k 10%@now 50%@+1h").status == 0)
        let fall = try await versiongate.run("rule ramp k 50%@now 10%@+1h")
        #expect(fall.status == 1)
        #expect(fall.errors.contains("versiongate rule rollout k PERCENT"), "\(fall.errors)")
        for result in [unknown, rule, fall] {
            #expect(!result.errors.contains("INSERT") && !result.errors.contains("DELETE"), "\(result.errors)")
        }
    }

    @Test(
        "A hint is to name the version where a lockout would leave no way out, and the lockout without an update comes last"
    )
    func refusedLockout() async throws {
        try await versiongate.run("app add a")
        try await versiongate.run("release add a 1.2 --platform ios")
        let refused = try await addRule("kill", "--bundle a --builds 113 --platform ios --lockout --enable --yes")
        #expect(refused.status == 1)
        let hint = try #require(refused.errors.split(separator: "Hint: ").last)
        let name = try #require(hint.firstRange(of: "--versions 1.1.3"))
        let record = try #require(
            hint.firstRange(of: "versiongate release edit BUNDLE VERSION --platform PLATFORM --set-build BUILD")
        )
        let dangerous = try #require(hint.firstRange(of: "--lockout-without-update"))
        #expect(name.lowerBound < record.lowerBound && record.lowerBound < dangerous.lowerBound)
        #expect(!hint.contains("lockout_without_update") && !hint.contains("transaction"))
    }

    @Test(
        "A hint is how to add the store link that a message lacks, for each platform of the rule or else of the app's releases"
    )
    func missingStoreLink() async throws {
        try await versiongate.run("app add a --store-link android=https://example.com")
        for platform in ["ios", "android", "macos"] {
            try await versiongate.run("release add a 1.2 --platform \(platform)")
        }
        try await versiongate.run("release withdraw a 1.2 --platform macos --yes")
        let releases = try await addRule("releases", "--bundle a --link store")
        #expect(releases.status == 0)
        #expect(
            releases.errors == """
                Warning: rule "releases" leads to the store, but a has no store link for ios: users there see no button \
                (versiongate app edit a --store-link ios=https://...)

                """
        )
        let platform = try await addRule("platform", "--bundle a --link store --platform tvos")
        #expect(
            platform.errors.contains("(versiongate app edit a --store-link tvos=https://...)"),
            "\(platform.errors)"
        )
        #expect(try await addRule("linked", "--bundle a --link store --platform android").errors.isEmpty)
        #expect(try await versiongate.run("rule edit releases --title New").errors.isEmpty)
        let lockout = try await addRule("lock", "--bundle a --versions <1.2 --lockout --yes")
        #expect(lockout.errors.contains("(versiongate rule edit lock --link store)"), "\(lockout.errors)")
        #expect(try await addRule("maintenance", "--lockout --lockout-without-update --ends-at +1h").errors.isEmpty)
    }

    @Test("A hint is how to add the store link that an enabled lockout lacks on the platform of a new release")
    func lostButton() async throws {
        try await versiongate.run("app add a --store-link ios=https://example.com")
        try await versiongate.run("release add a 1.2 --platform ios")
        #expect(try await versiongate.run("block a 1.1 --yes").errors.isEmpty)
        let release = try await versiongate.run("release add a 1.2 --platform android --yes")
        #expect(release.status == 0)
        #expect(
            release.errors == """
                Warning: rule "block-1.1" leads to the store, but a has no store link for android: users there see no \
                button (versiongate app edit a --store-link android=https://...)

                """
        )
    }

    @Test("A hint is said in SQL to those who use SQL")
    func missingStoreLinkInSQL() async throws {
        try await TestDatabase.current.edit("INSERT INTO apps (bundle) VALUES ('a')")
        let result = try await TestDatabase.current.psql(
            "INSERT INTO rules (key, bundle, platforms, title, text, link) VALUES ('k', 'a', '{ios}', 'T', 'X', 'store')",
            user: "versiongate_admin"
        )
        #expect(result.isSuccess)
        #expect(
            result.errors.contains(
                "INSERT INTO store_links (bundle, platform, link) VALUES ('a', 'ios', 'https://...');"
            )
        )
    }
}
