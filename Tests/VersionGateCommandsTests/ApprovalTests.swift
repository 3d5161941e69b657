import Foundation
import Subprocess
import TestDatabase
import Testing

/// What only somebody on a terminal sees of approval; the rest is in `Tests/Cases/commands/approval.case`.
@Suite("Approval of lockouts", .migratedDatabase)
struct ApprovalTests {
    private var versiongate: BuiltBinary { BuiltBinary(.current) }

    /// A lockout at 0 % of half of the checks.
    private func prepare() async throws {
        try await TestDatabase.current.edit(
            """
            INSERT INTO apps (bundle) VALUES ('a');
            INSERT INTO releases (bundle, platform, version, live_at) VALUES ('a', 'ios', '2.0', '2026-01-01Z');
            INSERT INTO rules (key, bundle, title, text, versions, lockout, enabled, rollout)
            VALUES ('lock', 'a', 'T', 'X', '<2', true, true, 0)
            """
        )
        try await TestDatabase.current.addCounts(
            "(now(), 'a', 'ios', '1.0', 100, 0, 0), (now(), 'a', 'ios', '2.0', 100, 0, 0)"
        )
    }

    /// Runs a command on a terminal of its own with somebody who types.
    private func onTerminal(_ line: String, typing: String) async throws -> BuiltBinary.Result {
        let result = try await Subprocess.run(
            .name("script"),
            arguments: ["--quiet", "--return", "--command", "\(BuiltBinary.path) \(line)", "/dev/null"],
            environment: versiongate.subprocessEnvironment.updating(["NO_COLOR": "1", "TERM": "xterm"]),
            input: .string(typing), output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        )
        guard case .exited(let status) = result.terminationStatus else {
            return BuiltBinary.Result(status: -1, output: result.standardOutput, errors: result.standardError)
        }
        return BuiltBinary.Result(status: Int(status), output: result.standardOutput, errors: result.standardError)
    }

    @Test("Consent is asked for on a terminal; anything but yes changes nothing")
    func asks() async throws {
        try await prepare()
        let revision = try await TestDatabase.current.revision()
        for answer in ["n\n", "\n", "yesterday\n"] {
            let refused = try await onTerminal("rule rollout lock 100", typing: answer)
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("This would newly lock out up to 50.0 %"), "\(refused.output)")
            #expect(refused.output.contains("recent checks of a.\r\nDo it on"), "\(refused.output)")
            #expect(refused.output.contains("nothing was changed"))
            #expect(try await TestDatabase.current.revision() == revision)
        }
        let made = try await onTerminal("rule rollout lock 100", typing: "y\n")
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("To take it back"))
        #expect(try await TestDatabase.current.revision() != revision)
    }

    @Test("Consent given while somebody else edits is refused, and both edits are as they were")
    func isGivenForWhatWasSeen() async throws {
        try await prepare()
        let database = TestDatabase.current
        // The command waits for the answer; the answer is typed after another edit was made.
        let script = """
            coproc script --quiet --return --command "$0 rule rollout lock 100" /dev/null
            child=$COPROC_PID
            exec 4<&"${COPROC[0]}" 5>&"${COPROC[1]}"
            read -r -t 60 -d ']' seen <&4
            psql --quiet "$1" -c "UPDATE rules SET title = 'Other'" > /dev/null
            echo y >&5
            exec 5>&-
            echo "$seen"
            cat <&4
            wait "$child"
            """
        let result = try await Subprocess.run(
            .name("bash"),
            arguments: [
                "-c", script, BuiltBinary.path, database.url(user: "versiongate_admin"),
            ],
            environment: versiongate.subprocessEnvironment.updating(["NO_COLOR": "1", "TERM": "xterm"]),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        #expect(result.terminationStatus == .exited(1), "\(result.standardOutput) \(result.standardError)")
        #expect(result.standardOutput.contains("changed by somebody else"), "\(result.standardOutput)")
        let rules = try await database.psql("SELECT title, rollout FROM rules")
        #expect(rules.output == "Other|0\n")
    }
}
