import Foundation
import TestDatabase
import TestRandom
import TestSystem
import Testing
import UpdatePolicy

/// What people write by mistake: each is refused or warned about, with the fault and what to write.
@Suite("Wrong input", .migratedDatabase)
struct WrongInputTests {
    private static let cases = ((try? WrongInput.all) ?? []).filter { !$0.needsServer }
    static let statements = cases.filter { $0.sql != nil && $0.status != 0 }
    static let warnedAbout = cases.filter { $0.status == 0 }

    private func prepare() async throws {
        try await TestDatabase.current.edit(WrongInput.setup)
    }

    @Test("The table of wrong inputs has every row once, and at least 300")
    func table() throws {
        let all = try WrongInput.all
        #expect(all.count >= 300)
        let inputs = all.map { "\($0.arguments ?? []) \($0.sql ?? "") \($0.environment ?? [:]) \($0.file ?? "")" }
        #expect(Dictionary(grouping: inputs) { $0 }.filter { $1.count > 1 }.isEmpty)
    }

    /// The policy that wrong statements meet together, as none of them changes it.
    private static let setup = WrongInput.setup.map { "BEGIN; \($0); COMMIT" }.joined(separator: ";")

    @Test("A wrong statement is refused with its fault and what to do", .sharedDatabase(setup), arguments: statements)
    func isRefused(_ input: WrongInput) async throws {
        let answer = try await StateFolder.with { try await input.answer(in: $0.path) }
        input.expect(answer)
        try await PrintedText.pasteStatements(in: answer.text, input.testDescription)
        #expect(try await TestDatabase.current.revision() == Int64(WrongInput.setup.count))
    }

    @Test(
        "A wrong input that may be meant is carried out with a warning, and what to do",
        arguments: Trials.some(warnedAbout)
    )
    func isWarnedAbout(_ input: WrongInput) async throws {
        try await prepare()
        let answer = try await StateFolder.with { try await input.answer(in: $0.path) }
        input.expect(answer)
        try await PrintedText.typeCommands(in: answer.text, input.testDescription)
        try await PrintedText.pasteStatements(in: answer.text, input.testDescription)
    }

    @Test("A wrong input to a check of a server is answered with its fault and what to do")
    func isExplainedByServer() async throws {
        try await prepare()
        let server = BuiltBinary(environment: ["DATABASE_URL": TestDatabase.current.url(user: "versiongate_server")])
        try await ServingBinary.run(server) { serving in
            func address(_ url: String) -> String { String(url.drop { $0 != "/" }.dropFirst(2)) }
            for input in try WrongInput.all.filter(\.needsServer) {
                try await StateFolder.with { folder in
                    let addresses = (address(serving.publicURL), address(serving.managementURL))
                    input.expect(try await input.answer(in: folder.path, server: addresses))
                }
            }
        }
    }

    private static let file = "Tests/Vectors/messages.txt"
    /// How many commands are answered at once.
    private static let width = 4

    @Test(
        "A wrong command is refused with its fault and what to do, and the file of messages has its answer",
        .timeLimit(.minutes(20))
    )
    func keepsAnswers() async throws {
        try await prepare()
        // All of them make the file; by default a quarter is compared with it.
        var random = SeededGenerator()
        let seed = random.seed
        let part = Int.random(in: 0..<4, using: &random)
        let inputs = Self.cases.filter { $0.arguments != nil && $0.status != 0 }.enumerated()
            .filter { Trials.isWhole || $0.offset % 4 == part }.map(\.element)
        var answers: [Int: WrongInput.Answer] = [:]
        for start in stride(from: 0, to: inputs.count, by: Self.width) {
            try await withThrowingTaskGroup(of: (Int, WrongInput.Answer).self) { group in
                for index in start..<min(start + Self.width, inputs.count) {
                    group.addTask {
                        try await StateFolder.with { (index, try await inputs[index].answer(in: $0.path)) }
                    }
                }
                for try await (index, answer) in group { answers[index] = answer }
            }
        }
        let url = RepositoryFile.url(Self.file)
        let written = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        var text = """
            # What the command lines of wrong-inputs.json are answered

            WrongInputTests makes this file. DATABASE, FILE and TIME stand for what differs from run to run.


            """
        for (index, input) in inputs.enumerated() {
            let answer = try #require(answers[index])
            input.expect(answer)
            guard input.environment == nil else { continue }
            let line = (input.arguments ?? []).map(\.shellWord).joined(separator: " ")
            let section =
                "## versiongate \(line)\n\n```\n\(Self.constant(answer.text))\n```\n\nExit code \(answer.status).\n"
            #expect(Trials.isWhole || written.contains(section), "a whole run makes the file anew; seed \(seed)")
            text += section + "\n"
        }
        #expect(try await TestDatabase.current.revision() == Int64(WrongInput.setup.count))
        // A command that several answers print is typed once.
        let printed = answers.values.map(\.text).joined(separator: "\n")
        #expect(try await PrintedText.typeCommands(in: printed, "an answer to a wrong command") > 10)
        text.removeLast()
        if Trials.isWhole, written != text {
            let fresh = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: "versiongate-messages.txt")
            try text.write(to: fresh, atomically: true, encoding: .utf8)
            Issue.record("the file is stale: cp \(fresh.path) \(url.path)")
        }
    }

    /// An answer without what differs from run to run.
    private static func constant(_ text: String) -> String {
        text.replacing(" --context test", with: "")
            .replacing(#/test \(\S+/socket:\d+/test_\w+\)/#, with: "DATABASE")
            .replacing(#/\S+/socket:\d+/test_\w+/#, with: "DATABASE")
            .replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/#, with: "TIME")
            .replacing("(\(NSUserName()))", with: "(USER)")
            .replacing(#/process \d+/#, with: "process N")
            .trimmingCharacters(in: .newlines)
    }
}
