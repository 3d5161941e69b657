import Foundation
import NIOHTTP1
import Postgres
import TestDatabase
import TestSystem
import Testing

@Suite("Brake", .migratedDatabase)
struct BrakeTests {
    private static let rows = [
        """
        INSERT INTO apps (bundle, store_id) VALUES ('com.example.doto', 123456789);
        INSERT INTO store_links VALUES ('com.example.doto', 'ios', 'https://apps.apple.com/app/id123456789');
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('com.example.doto', 'ios', '1.2', now() - interval '1 day');
        INSERT INTO feed_templates (bundle, name, content_type, body) VALUES (
            'com.example.doto', 'own.json', 'application/json',
            '{"prompt":"{{prompt}}","floor":"{{floor}}"{{#messages}}{{#lockout}},"locked":true{{/lockout}}{{/messages}}}'
        );
        """,
        """
        INSERT INTO rules (key, bundle, target, title, text, enabled, lockout, remind, ends_at)
        VALUES ('bad', 'com.example.doto', '1.2', 'Too old', 'Update.', true, true, '1 day', '2999-01-01Z');
        """,
    ]

    private static let client = #"{"bundle":"com.example.doto","version":"1.1","platform":"ios","os":"17"}"#
    private static let query = "bundle=com.example.doto&version=1.1&platform=ios&os=17"
    private static let lockout = """
        {"messages":[{"id":"bad","title":"Too old","text":"Update.","lockout":true,"until":32472144000}]}
        """
    private static let plain = #"{"messages":[{"id":"bad","title":"Too old","text":"Update."}]}"#

    /// What a server says to every kind of client, by the brake.
    private static func expect(brake isOn: Bool, _ server: ServingBinary) async throws {
        let post = try await HTTPAnswer("\(server.publicURL)/v1/check", method: .POST, body: client)
        #expect(post.body == (isOn ? plain : lockout))
        #expect(post.headers.first(name: "Policy-Brake") == (isOn ? "on" : nil))
        #expect(post.headers.first(name: "Cache-Control") == "no-store")
        let get = try await HTTPAnswer("\(server.publicURL)/v1/check?\(query)")
        #expect(get.body == (isOn ? plain : lockout))
        #expect(get.headers.first(name: "Policy-Brake") == (isOn ? "on" : nil))
        let legacy = try await server.check(client, at: "/tables/vLoadMessages")
        #expect(legacy.contains(#""message":"Update.""#) && legacy.contains("lockout") == !isOn, "\(legacy)")
        #expect(try await HTTPAnswer("\(server.publicURL)/v1/gate?\(query)").status == (isOn ? 204 : 403))
        let feeds = "\(server.publicURL)/v1/feeds/com.example.doto"
        let versions = try await HTTPAnswer("\(feeds)/prince-of-versions.json").body
        #expect(versions.contains("required_version") == !isOn, "\(versions)")
        #expect(versions.contains(#""last_version_available":"1.2""#), "\(versions)")
        let own = try await HTTPAnswer("\(feeds)/own.json?platform=ios&os=17&version=1.1").body
        #expect(own == (isOn ? #"{"prompt":"1.2","floor":""}"# : #"{"prompt":"1.2","floor":"1.2","locked":true}"#))
        let lookUp = try await HTTPAnswer("\(server.publicURL)/lookup?bundleId=com.example.doto").body
        #expect(lookUp.contains(#""version":"1.2""#) && lookUp.contains(":mav:") == !isOn, "\(lookUp)")
    }

    @Test("The brake sends every lockout as a plain message wherever it is asked for, until it is off")
    func takesLockouts() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.rows)
        try await StateFolder.with { folder in
            let versiongate = BuiltBinary(stateDirectory: folder.path)
            let options = ["--state-dir", folder.path, "--count-interval", "1"]
            let ending = try await ServingBinary.run(.server(), arguments: options) { server in
                try await server.check(Self.client) { $0 == Self.lockout }
                try await Self.expect(brake: false, server)
                let on = try await versiongate.run(arguments: ["brake", "on", "--why", "incident 42"])
                #expect(on.status == 0, "\(on.errors)")
                #expect(on.output.contains("versiongate brake off --brake-file \(folder.path)/brake"), "\(on.output)")
                try await server.check(Self.client) { $0 == Self.plain }
                try await Self.expect(brake: true, server)
                try await Self.expectSaid(folder, server)
                let off = try await versiongate.run(arguments: ["brake", "off", "--why", "it is over", "--yes"])
                #expect(off.status == 0 && off.output.contains("The brake is off"), "\(off)")
                try await server.check(Self.client) { $0 == Self.lockout }
                try await Self.expect(brake: false, server)
                #expect(try await server.management("/metrics").body.contains("versiongate_brake 0\n"))
                #expect(try await versiongate.run("brake off").output.contains("was already off"))
            }
            #expect(ending.errors.contains("The brake is on: lockouts are sent as plain messages"))
            #expect(ending.errors.contains("incident 42"))
            #expect(ending.errors.contains("The brake is off: lockouts are sent again"))
            let record = try String(contentsOfFile: folder.path + "/brake.log", encoding: .utf8)
            let lines = record.split(separator: "\n").map(String.init)
            #expect(lines.count == 3)
            #expect(lines.first?.hasSuffix(": incident 42") == true && lines.first?.contains(" on by ") == true)
            #expect(lines.dropFirst().first?.hasSuffix(": it is over") == true)
            try await Self.expectCounts(database)
        }
    }

    /// Who looks at a server with the brake on is told, wherever it is.
    private static func expectSaid(_ folder: StateFolder, _ server: ServingBinary) async throws {
        let what = "\(folder.path)/brake: incident 42"
        let ready = try await server.management("/ready").body.replacing("\\/", with: "/")
        #expect(ready.contains(#""brake":"\#(what)""#), "\(ready)")
        #expect(try await server.management("/metrics").body.contains("versiongate_brake 1\n"))
        let page = try await server.management("/").body
        #expect(page.contains("The brake is on, so lockouts are sent as plain messages: \(what)"), "\(page)")
        #expect(page.contains("versiongate brake off --brake-file \(folder.path)/brake"))
        let versiongate = BuiltBinary(TestDatabase.current)
        _ = try await versiongate.status(
            saying: "its brake is on: lockouts are sent as plain messages, see its /ready")
        #expect(try await versiongate.run("status --format json").output.contains(#""brake""#))
        for options in ["", "--explain "] {
            let asked = try await versiongate.run(
                "check \(options)bundle=com.example.doto version=1.1 platform=ios os=17")
            #expect(asked.errors.contains("sends every lockout as a plain message"), "\(asked)")
            let past = try await versiongate.run(
                "check \(options)--at +1h bundle=com.example.doto version=1.1 platform=ios")
            #expect(!past.errors.contains("plain message"), "\(past)")
        }
    }

    /// Lockouts that were sent as messages are counted as messages.
    private static func expectCounts(_ database: TestDatabase) async throws {
        let rows = try await database.connect().query(
            "SELECT sum(sent) > sum(lockouts), sum(lockouts) > 0 FROM rule_counts"
        )
        #expect(try rows[0].decode(0, as: Bool.self))
        #expect(try rows[0].decode(1, as: Bool.self))
    }

    @Test("The brake needs no database, is on after a restart, and may be an empty file of any path, made by hand")
    func needsNoDatabase() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.rows)
        try await StateFolder.with { folder in
            let options = ["--state-dir", folder.path]
            try await ServingBinary.run(.server(), arguments: options) { server in
                try await server.check(Self.client) { $0 == Self.lockout }
            }
            let file = folder.path + "/mounted"
            let away = ["DATABASE_URL": "postgresql://127.0.0.1:1/x", "VERSIONGATE_BRAKE_FILE": file]
            try Data().write(to: URL(fileURLWithPath: file))
            try await ServingBinary.run(.server(away), arguments: options) { server in
                #expect(try await server.check(Self.client) == Self.plain)
                let ready = try await server.management("/ready").body.replacing("\\/", with: "/")
                #expect(ready.contains(#""brake":"\#(file)""#), "\(ready)")
                try FileManager.default.removeItem(atPath: file)
                try await server.check(Self.client) { $0 == Self.lockout }
                let versiongate = BuiltBinary(environment: ["VERSIONGATE_BRAKE_FILE": file])
                try await versiongate.succeed("brake on")
                try await server.check(Self.client) { $0 == Self.plain }
            }
            try await ServingBinary.run(.server(away), arguments: options) { server in
                let answer = try await server.check(Self.client)
                #expect(answer == Self.plain)
            }
        }
    }

    /// How to have mounts of one's own, for which the system may want root.
    private static let withMounts: String? = {
        let ways = ["unshare --mount", "unshare --map-root-user --mount", "sudo --non-interactive unshare --mount"]
        return ways.first { way in
            let words = way.split(separator: " ").map(String.init)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = words + ["true"]
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }()

    @Test(
        "The brake can be put on and taken off where the disk is full",
        .enabled(if: withMounts != nil, "this user may not mount a small disk")
    )
    func needsNoSpace() async throws {
        let withMounts = try #require(Self.withMounts)
        try await StateFolder.with { folder in
            let result = try await BuiltBinary(environment: [:]).shell(
                """
                \(withMounts) bash -euc '
                    mount -t tmpfs -o size=16k tmpfs "$1" && cd "$1"
                    ! cat /dev/zero > fill 2> /dev/null
                    "$2" brake on --why "incident 42" --brake-file "$1/brake"
                    test -f brake && ! test -s brake
                    "$2" brake off --brake-file "$1/brake"
                    ! test -e brake && ls' bash '\(folder.path)' "$VERSIONGATE"
                """
            )
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("The disk is full, so nothing says why."), "\(result)")
            #expect(result.output.contains("The brake is off"), "\(result)")
            #expect(!result.output.contains(".new"), "\(result)")
        }
    }

    @Test("The brake that cannot be changed stays as it was, and the command names the folder and what to do")
    func saysWhyNot() async throws {
        try await StateFolder.with { folder in
            let nowhere = try await BuiltBinary(stateDirectory: folder.path + "/none").run("brake on")
            #expect(nowhere.status == 1 && nowhere.output.isEmpty)
            #expect(nowhere.errors.contains("there is no folder \(folder.path)/none"), "\(nowhere.errors)")
            #expect(nowhere.errors.contains("--state-dir (that of the packages is /var/lib/versiongate)"))
            for verb in ["on", "off"] {
                let file = folder.path + "/locked/brake"
                try FileManager.default.createDirectory(
                    atPath: folder.path + "/locked", withIntermediateDirectories: true
                )
                try Data().write(to: URL(fileURLWithPath: file))
                // root may write everywhere.
                let result = try await BuiltBinary(environment: [:]).shell(
                    """
                    cd / && chmod 755 '\(folder.path)' && chmod 555 '\(folder.path)/locked'
                    as=(); [[ $(id -u) != 0 ]] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
                    "${as[@]}" "$VERSIONGATE" brake \(verb) --brake-file '\(file)'
                    """
                )
                #expect(result.status == 1, "\(result)")
                #expect(result.errors.contains("may not write to the folder \(folder.path)/locked"), "\(result.errors)")
                #expect(
                    result.errors.contains("`sudo versiongate brake \(verb) --brake-file \(file)`"), "\(result.errors)"
                )
            }
            let versiongate = BuiltBinary(environment: [:])
            let directory = try await versiongate.run("brake on --brake-file \(folder.path)")
            #expect(directory.status == 1)
            #expect(directory.errors.contains("make or remove it by hand"), "\(directory.errors)")
            #expect(try await versiongate.run(arguments: ["brake", "on", "--brake-file", ""]).status == 64)
            let unused = try await BuiltBinary(stateDirectory: folder.path).run("brake on")
            #expect(unused.status == 0)
            #expect(unused.errors.contains("Warning: no server has kept a policy in \(folder.path) yet"), "\(unused)")
        }
    }
}
