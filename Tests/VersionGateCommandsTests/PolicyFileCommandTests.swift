import Foundation
import Subprocess
import TestDatabase
import TestSystem
import Testing
import UpdatePolicy

@testable import PolicyStore
@testable import VersionGateCommands

/// What takes a terminal or the documentation; the rest is in `Tests/Cases/commands/policy-file.case`.
@Suite("Policy file commands", .migratedDatabase)
struct PolicyFileCommandTests {
    @Test("A plan on a terminal has colours")
    func hasColours() {
        let row = PolicyChange.Row(
            table: "rules", key: "k", kind: .changed, columns: [.init(name: "os", before: "1", after: nil)]
        )
        let report = PlanReport(
            revision: 1,
            change: PolicyChange(
                id: 2, at: .init(secondsSince1970: 0), role: "r", osUser: nil, tool: nil, why: nil, undoes: nil,
                rows: [row]
            ),
            unchanged: "", ending: "", terminal: Terminal(width: 80, usesColor: true)
        )
        #expect(report.text.hasPrefix("\u{1B}[33m~ rule k\u{1B}[0m\n    os: \u{1B}[31m1\u{1B}[0m -> "))
    }

    @Test(
        "The commands ask on a terminal before anything is removed, and do as they are told",
        arguments: ["n", "", "y"]
    )
    func asks(answer: String) async throws {
        try await PolicyFileFixture.with { fixture in
            try await fixture.binary.run("apply --yes \(try fixture.write(PolicyFileFixture.example))")
            let file = try fixture.write("versiongate: 1\napps: {}\nrules: {}\n...\n")
            let result = try await Subprocess.run(
                .name("script"),
                arguments: [
                    "--quiet", "--return", "--echo", "never", "--command", "\(BuiltBinary.path) apply \(file)",
                    "/dev/null",
                ],
                environment: fixture.binary.subprocessEnvironment,
                input: .string("\(answer)\n"),
                output: .string(limit: 1 << 20),
                error: .discarded
            )
            #expect(result.standardOutput.contains("  rule update-1.2 ("))
            #expect(result.standardOutput.contains("Do it on"))
            #expect(result.standardOutput.contains("nothing was changed, as the answer was not y") == (answer != "y"))
            #expect(result.terminationStatus == .exited(answer == "y" ? 0 : 1))
            #expect(try await fixture.revision() == (answer == "y" ? 2 : 1))
        }
    }
}
