import Foundation
import TestDatabase
import Testing

/// The cases of `Tests/Cases`, each on the rows of a new database.
@Suite("Cases", .timeLimit(.minutes(20)))
struct TranscriptTests {
    /// Whether the answers are written into the files.
    private static let writes = ProcessInfo.processInfo.environment["VERSIONGATE_UPDATE"]?.isEmpty == false

    /// The files: all, or those of `VERSIONGATE_CASES`, names or folders with commas between them.
    private static let chosen: [String] = {
        guard let names = ProcessInfo.processInfo.environment["VERSIONGATE_CASES"] else { return Transcript.names }
        let wanted = names.split(separator: ",")
        let found = Transcript.names.filter { name in wanted.contains { name == $0 || name.hasPrefix("\($0)/") } }
        precondition(!found.isEmpty, "VERSIONGATE_CASES names no file of Tests/Cases: \(names)")
        return found
    }()

    @Test("What is answered is what is written", arguments: chosen)
    func answers(_ name: String) async throws {
        var transcript = try Transcript(name)
        let written = transcript
        // What stands before the first case begins each of them.
        for index in transcript.cases.indices where index > 0 || transcript.cases.count == 1 {
            try await Self.carryOut(&transcript, index)
        }
        if Self.writes, transcript.text != written.text {
            try transcript.text.write(toFile: transcript.path, atomically: true, encoding: .utf8)
        }
    }

    private static func carryOut(_ transcript: inout Transcript, _ index: Int) async throws {
        let (title, path) = (transcript.cases[index].title, transcript.path)
        let places = index == 0 ? [0] : [0, index]
        let inputs = try Transcript.inputs(of: places.flatMap { transcript.cases[$0].steps })
        do {
            try await TranscriptStage.with(inputs: inputs) { stage in
                for place in places {
                    for (number, part) in transcript.cases[place].parts.enumerated() {
                        guard case .step(var step) = part else { continue }
                        let answer: [String]
                        do {
                            answer = try await stage.answer(step)
                        } catch {
                            throw Transcript.Fault(description: "line \(step.line): \(error)")
                        }
                        TranscriptRules.check(step, answer, at: location(step, transcript))
                        compare(step, answer, title, transcript)
                        step.answer = answer
                        transcript.cases[place].parts[number] = .step(step)
                    }
                }
            }
        } catch {
            throw Transcript.Fault(description: "\(path): \(title): \(error)")
        }
    }

    private static func location(_ step: Transcript.Step, _ transcript: Transcript) -> SourceLocation {
        SourceLocation(
            fileID: "Cases/\(transcript.name).case", filePath: transcript.path, line: step.line, column: 1
        )
    }

    private static func compare(
        _ step: Transcript.Step, _ answer: [String], _ title: String, _ transcript: Transcript
    ) {
        guard !writes, answer != step.answer else { return }
        let difference = answer.difference(from: step.answer)
        let changes = difference.map { change in
            switch change {
            case .remove(_, let line, _): "written: \(line)"
            case .insert(_, let line, _): "answered:\(line)"
            }
        }
        Issue.record(
            "\(title)\n\(step.source.joined(separator: "\n"))\n\(changes.joined(separator: "\n"))",
            sourceLocation: location(step, transcript)
        )
    }

    @Test("What the cases print to be typed or pasted is a command or a statement")
    func prints() async throws {
        let steps = try Transcript.names.map { try Transcript($0) }.flatMap { $0.cases.flatMap(\.steps) }
        let commands = Set(
            steps.filter { $0.action == .command }.flatMap { PrintedText.commands(in: $0.printed) }
        ).sorted()
        let statements = Set(steps.flatMap { PrintedText.statements(in: $0.printed) }).sorted()
        #expect(commands.count > 50 && statements.count > 20)
        try await PrintedText.type(commands)
        try await PrintedText.paste(statements)
    }
}
