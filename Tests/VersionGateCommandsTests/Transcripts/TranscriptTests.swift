import Foundation
import TestDatabase
import Testing

/// The cases of `Tests/Cases`, each file on a database of its own.
@Suite("Cases", .timeLimit(.minutes(20)))
struct TranscriptTests {
    /// Whether the answers are written into the files.
    private static let writes = ProcessInfo.processInfo.environment["VERSIONGATE_UPDATE"]?.isEmpty == false

    /// The files: all, or those of `VERSIONGATE_CASES`, names or folders with commas between them.
    private static let chosen: [String] = {
        guard let names = ProcessInfo.processInfo.environment["VERSIONGATE_CASES"] else { return Transcript.names }
        let wanted = names.split(separator: ",")
        return Transcript.names.filter { name in wanted.contains { name == $0 || name.hasPrefix("\($0)/") } }
    }()

    @Test("What is answered is what is written", arguments: chosen)
    func answers(_ name: String) async throws {
        var transcript = try Transcript(name)
        let written = transcript
        let head = transcript.cases[0].steps
        try await WarmDatabase.with { database in
            for index in transcript.cases.indices {
                // What stands before the first case is written once, and begins each of them.
                guard index == 0 ? transcript.cases.count == 1 : true else { continue }
                try await Self.carryOut(&transcript, index, head: index == 0 ? [] : head, database)
            }
        }
        if Self.writes, transcript.text != written.text {
            try transcript.text.write(toFile: transcript.path, atomically: true, encoding: .utf8)
        }
    }

    private static func carryOut(
        _ transcript: inout Transcript, _ index: Int, head: [Transcript.Step], _ database: WarmDatabase
    ) async throws {
        let one = transcript.cases[index]
        let holes = TranscriptHoles(inputs: try Self.inputs(head + one.steps))
        let folder = TestDatabase.freshFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await database.reset()
        let stage = try TranscriptStage(database, folder: folder, holes: holes)
        do {
            for step in head { compare(step, try await stage.answer(step), one.title, transcript) }
            for (place, part) in one.parts.enumerated() {
                guard case .step(var step) = part else { continue }
                let answer = try await stage.answer(step)
                TranscriptRules.check(step, answer, at: location(step, transcript))
                compare(step, answer, one.title, transcript)
                step.answer = answer
                transcript.cases[index].parts[place] = .step(step)
            }
        } catch {
            try? await stage.end()
            throw Transcript.Fault(description: "\(transcript.path): \(one.title): \(error)")
        }
        try await stage.end()
    }

    /// Everything that steps say, with the fixtures that they name.
    private static func inputs(_ steps: [Transcript.Step]) throws -> String {
        try steps.map { step in
            guard case .fixture(let name) = step.action else { return step.text }
            return try String(contentsOf: Transcript.folder.appending(path: "fixtures/\(name).sql"), encoding: .utf8)
        }.joined(separator: "\n")
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
}
