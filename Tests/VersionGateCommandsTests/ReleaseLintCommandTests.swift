// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import TestDatabase
import Testing

@Suite("Release lint command", .migratedDatabase)
struct ReleaseLintCommandTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('com.example.Doto'), ('good'), ('empty');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES
                ('com.example.Doto', 'ios', '1.1.0', now() - interval '100 days'),
                ('com.example.Doto', 'ios', '1.2.0', now() + interval '1 day'),
                ('com.example.Doto', 'android', '1.2.3.4', now()),
                ('good', 'ios', '1.2.0', now())
            """
        )
    }

    private static let asksAgain = """
        1.2 and 1.2.0 are the same version; iVersion (and Siren up to 6) takes 1.2.0 for an update and asks again after it
        """

    @Test("The lint of releases knows the versions in use of the last days, by platform")
    func versionsInUse() async throws {
        try await prepare()
        let before = try await versiongate.run("release lint com.example.doto --platform iPhoneOS")
        #expect(before.status == 0, "\(before.errors)")
        #expect(before.output == "No client misjudges these releases.\n", "\(before.output)")
        try await TestDatabase.current.addCounts(
            """
            (now(), 'com.example.Doto', 'ios', '1.2', 5, 0, 0), (now(), 'com.example.Doto', 'ios', '1.02', 4, 0, 0),
            (now(), 'com.example.Doto', 'ios', '1.2.0-b1', 1, 0, 0), (now(), 'com.example.Doto', 'ios', '?', 9, 0, 0),
            (now() - interval '30 days', 'com.example.Doto', 'ios', '1', 5, 0, 0),
            (now(), 'com.example.Doto', NULL, '1.2.0.0', 5, 0, 0), (now(), 'good', 'android', '1.2', 5, 0, 0)
            """
        )
        let after = try await versiongate.run("release lint COM.example.doto --platform ios")
        #expect(after.status == 0, "\(after.errors)")
        let lines = after.output.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("PLATFORM  CLIENT"), "\(after.output)")
        #expect(lines[0].hasSuffix("FINDING"))
        #expect(
            lines.contains { $0.hasPrefix("ios") && $0.hasSuffix(Self.asksAgain + " (the same with another version)") },
            "\(after.output)"
        )
        #expect(after.output.contains("1.2.0-b1 is newer than 1.2.0 for Updates: its users are never asked\n"))
        #expect(lines.last?.hasPrefix("ios: Write all new versions with three numbers from 0 to 999, ") == true)
        #expect(!after.output.contains("1.2.0.0") && !after.output.contains("android"))
        let all = try await versiongate.run("release lint com.example.doto")
        #expect(
            all.output.split(separator: "\n").count { $0.contains("Write all new versions") } == 1
                && all.output.contains("\nandroid, ios: Write all new versions with three numbers"),
            "\(all.output)"
        )
        #expect(try await versiongate.run("release lint good").output == "No client misjudges these releases.\n")
    }

    private struct Document: Decodable {
        struct Finding: Decodable, Equatable {
            let platform: String
            let client: String
            let name: String
            let kind: String
            let cause: String
            let installed: String
            let offered: String
            let others: Int
            let sentence: String
        }
        struct Recommendation: Decodable {
            let platform: String
            let sentence: String
        }
        let bundle: String
        let findings: [Finding]
        let recommendations: [Recommendation]
    }

    private func document(_ line: String) async throws -> Document {
        let result = try await versiongate.run(line)
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
    }

    @Test("The lint of releases is JSON for programs")
    func json() async throws {
        try await prepare()
        let document = try await document("release lint com.example.doto --format json")
        #expect(document.bundle == "com.example.Doto")
        #expect(
            document.findings == [
                Document.Finding(
                    platform: "android",
                    client: "react-native-version-check",
                    name: "react-native-version-check",
                    kind: "asks-nobody",
                    cause: "more-than-three-parts",
                    installed: "1.2.3.4",
                    offered: "1.2.3.4",
                    others: 0,
                    sentence: "1.2.3.4 has 4 parts: react-native-version-check cannot read it and asks nobody"
                )
            ]
        )
        #expect(document.recommendations.map(\.platform) == ["android"])
        let good = try await self.document("release lint good --format json")
        #expect(good.findings.isEmpty && good.recommendations.isEmpty)
    }

    @Test("The lint of releases says what to do where there are none, and which app was meant")
    func nothing() async throws {
        try await prepare()
        let empty = try await versiongate.run("release lint empty")
        #expect(empty.status == 0)
        #expect(
            empty.output
                == "No releases of empty. To add one: versiongate release add empty VERSION --platform PLATFORM\n"
        )
        let platform = try await versiongate.run("release lint good --platform android")
        #expect(
            platform.output
                == "No releases of good on android. To add one: versiongate release add good VERSION --platform android\n"
        )
        #expect(try await document("release lint empty --format json").findings.isEmpty)
        let similar = try await versiongate.run("release lint com.example.dot")
        #expect(similar.status == 1)
        #expect(similar.output.isEmpty)
        #expect(
            similar.errors.contains("there is no app com.example.dot; did you mean com.example.Doto?"),
            "\(similar.errors)"
        )
        #expect(try await versiongate.run("release lint").status == 64)
        #expect(try await versiongate.run("release lint good --format xml").status == 64)
    }
}
