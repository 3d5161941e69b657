/// The lines that the answers to many commands end with. A transcript leaves them out, and they are checked here, unless the
/// answer that is written has them.
struct TranscriptEnds {
    /// A command, and its answer as it is written.
    let step: Transcript.Step
    /// Whether lines of its standard output were left out.
    let isPartOfOutput: Bool
    /// The revision of the policy before and after it.
    let before: Int
    let after: Int

    /// An answer without those ends that are as they must be.
    ///
    /// - Throws: If the command changed the policy without saying so.
    func cut(_ answer: [String]) throws -> [String] {
        try cutChange(cutUsage(answer))
    }

    /// A wrong usage ends with the usage of the command and how to read more of it, below the help of what has a wrong value.
    private func cutUsage(_ answer: [String]) -> [String] {
        let words = step.text.split(separator: " ")
        guard !step.answer.contains(where: { $0.hasPrefix("  ! Usage: ") }), answer.last == "  ? 64",
            let usage = answer.lastIndex(where: { $0.hasPrefix("  ! Usage: ") }), usage == answer.count - 3,
            let command = answer[usage + 1].wholeMatch(of: #/  !   See '(.+) --help' for more information\./#)?.1,
            words.drop(while: { $0 != "versiongate" }).starts(with: command.split(separator: " ")),
            answer[usage].hasPrefix("  ! Usage: \(command) ")
        else { return answer }
        var end = usage
        if let help = answer[usage - 1].wholeMatch(of: #/  ! Help:  (.+?)  .+/#)?.1 {
            guard answer[..<(usage - 1)].contains(where: { $0.contains("'\(help)") }) else { return answer }
            end -= 1
        }
        return answer[..<end] + ["  ? 64 with usage"]
    }

    /// An edit of the service `test` names the database, and the command that takes it back.
    private func cutChange(_ answer: [String]) throws -> [String] {
        guard after != before, !isPartOfOutput, !step.text.contains("database psql") else { return answer }
        let undo = "    This is change \(after). To undo it: versiongate undo \(after)"
        guard let line = answer.firstIndex(where: { $0 == undo || $0.hasPrefix("\(undo) ") }) else {
            throw Transcript.Fault(description: "makes change \(after) and does not say so: \(step.text): \(answer)")
        }
        let isWritten = step.answer.contains { $0.hasPrefix("    This is change ") }
        guard !isWritten, line > 0, answer[line - 1] == "    Edited test ({database}).",
            answer[line] == "\(undo) --database-url service=test"
        else { return answer }
        return Array(answer[..<(line - 1)] + answer[(line + 1)...])
    }
}
