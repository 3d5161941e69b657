import Foundation
import NIOHTTP1
import TestDatabase
import TestRandom
import TestSystem
import Testing

@Suite("Lockout keys", .whole)
struct LockoutKeyTests {
    private struct Half: Decodable, Equatable {
        let file: String
        let key_id: String
        let public_key: String
    }

    private static let client = #"{"bundle":"com.example.doto","version":"1.1","platform":"ios","os":"17"}"#
    private static let rows = [
        """
        INSERT INTO apps (bundle) VALUES ('com.example.doto');
        INSERT INTO releases (bundle, platform, version, live_at)
        VALUES ('com.example.doto', 'ios', '1.2', now() - interval '1 day');
        """,
        """
        INSERT INTO rules (key, bundle, target, title, text, enabled, lockout)
        VALUES ('bad', 'com.example.doto', '1.2', 'Too old', 'Update.', true, true);
        """,
    ]

    private static func half(_ verb: String, _ file: String) async throws -> Half {
        let result = try await BuiltBinary(environment: [:]).run(
            arguments: ["lockout-key", verb, file, "--format", "json"]
        )
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Half.self, from: Data(result.output.utf8))
    }

    @Test("A key is made for its owner alone, shown again, read by OpenSSL, and never written over")
    func isMade() async throws {
        try await StateFolder.with { folder in
            let file = folder.path + "/lockout-key.pem"
            let half = try await Self.half("new", file)
            #expect(try await Self.half("show", file) == half)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let versiongate = BuiltBinary(environment: [:])
            let openssl = try await versiongate.shell("openssl pkey -in '\(file)' -pubout -outform DER | base64 -w 0")
            #expect(openssl.status == 0 && openssl.output == half.public_key, "\(openssl)")
            let id = try await versiongate.shell("base64 -d <<< '\(half.public_key)' | sha256sum | cut -c 1-16")
            #expect(id.output == half.key_id + "\n")
            let table = try await versiongate.run("lockout-key show \(file)")
            #expect(table.output.contains("public key  \(half.public_key)\n"), "\(table.output)")
            let again = try await versiongate.run("lockout-key new \(file)")
            #expect(again.status == 1 && again.errors.contains("\(file) is already there"), "\(again.errors)")
            #expect(try await Self.half("show", file) == half)
            let nowhere = try await versiongate.run("lockout-key new \(folder.path)/none/key.pem")
            #expect(nowhere.status == 1)
            #expect(nowhere.errors.contains("a folder that you may write to"), "\(nowhere.errors)")
            for (contents, fault) in [
                ("nonsense", "does not hold a private key of P-256 in PEM without a passphrase"),
                ("openssl ecparam -name secp384r1 -genkey -noout", "does not hold a private key of P-256"),
                ("openssl genrsa 2048", "does not hold a private key of P-256"),
                (
                    "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -passout pass:abcd",
                    "without a passphrase"
                ),
            ] {
                let other = "\(folder.path)/other.pem"
                _ = try await versiongate.shell(
                    "{ \(contents); } > '\(other)' 2> /dev/null || echo nonsense > '\(other)'"
                )
                let shown = try await versiongate.run("lockout-key show \(other)")
                #expect(shown.status == 1 && shown.errors.contains(fault), "\(contents): \(shown.errors)")
                #expect(shown.errors.contains("`versiongate lockout-key new FILE` makes one"))
            }
            let missing = try await versiongate.run("lockout-key show \(folder.path)/missing.pem")
            #expect(missing.status == 1 && missing.errors.contains("cannot be read: No such file"), "\(missing.errors)")
        }
    }

    @Test(
        "A key that cannot be read fails no check and is said everywhere; SIGHUP reads it, and keeps it if the next is wrong",
        .migratedDatabase
    )
    func isReadAgain() async throws {
        let database = TestDatabase.current
        try await database.edit(Self.rows)
        try await StateFolder.with { folder in
            let file = folder.path + "/lockout-key.pem"
            let options = ["--lockout-key", file, "--state-dir", folder.path + "/state"]
            let binary = BuiltBinary.server()
            let ending = try await ServingBinary.run(binary, arguments: options) { server in
                try await server.check(Self.client) { $0.contains(#""lockout":true"#) }
                #expect(try await Self.signature(server) == nil)
                let missing = "--lockout-key (VERSIONGATE_LOCKOUT_KEY): \(file) cannot be read: No such file"
                try await Self.expectFault(missing, server)
                let first = try await Self.half("new", file)
                try await Self.reload(server, until: first.key_id)
                #expect(try await Self.signature(server)?.contains(#"keyid="\#(first.key_id)""#) == true)
                #expect(try await server.management("/metrics").body.contains("versiongate_lockout_key_fault 0\n"))
                try Data("nonsense".utf8).write(to: URL(fileURLWithPath: file))
                kill(server.processIdentifier, SIGHUP)
                _ = try await server.ready { $0.contains("the key before it, \(first.key_id), still signs") }
                #expect(try await Self.signature(server)?.contains(first.key_id) == true)
                try FileManager.default.removeItem(atPath: file)
                let second = try await Self.half("new", file)
                try await Self.reload(server, until: second.key_id)
                #expect(try await Self.signature(server)?.contains(second.key_id) == true)
                #expect(!(try await server.management("/ready").body.contains("lockoutKeyError")))
            }
            #expect(ending.status == 0)
            #expect(ending.errors.contains("The lockout key cannot be read"))
            #expect(ending.errors.contains("The lockout key was read again"))
        }
    }

    private static func signature(_ server: ServingBinary) async throws -> String? {
        let answer = try await HTTPAnswer("\(server.publicURL)/v1/check", method: .POST, body: client)
        #expect(answer.status == 200 && answer.body.contains(#""lockout":true"#))
        return answer.headers.first(name: "Signature-Input")
    }

    private static func reload(_ server: ServingBinary, until key: String) async throws {
        kill(server.processIdentifier, SIGHUP)
        _ = try await server.ready { $0.contains(#""lockoutKey":"\#(key)""#) }
    }

    private static func expectFault(_ fault: String, _ server: ServingBinary) async throws {
        let ready = try await server.management("/ready")
        #expect(ready.status == 200 && ready.body.replacing("\\/", with: "/").contains(fault), "\(ready.body)")
        #expect(ready.body.contains("lockouts are not signed"))
        #expect(try await server.management("/metrics").body.contains("versiongate_lockout_key_fault 1\n"))
        #expect(try await server.management("/").body.contains("Apps may show lockouts as plain messages: "))
        _ = try await BuiltBinary(.current).status(saying: "it cannot read its lockout key, see its /ready")
    }
}
