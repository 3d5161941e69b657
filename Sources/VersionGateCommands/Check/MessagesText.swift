import UpdatePolicy

/// Shows the messages of an answer to people.
enum MessagesText {
    /// The messages in order, without a line break at the end.
    static func text(_ messages: [Message], on terminal: Terminal = .standardOutput) -> String {
        guard !messages.isEmpty else { return "No messages." }
        return messages.enumerated().flatMap { index, message -> [String] in
            let end = message.until.map { " until \(TimeText.local(Timestamp(secondsSince1970: $0)))" } ?? ""
            let lockout = message.lockout ? "  " + terminal.styled("LOCKOUT\(end)", .red) : ""
            let title = terminal.styled(message.title.visible(), .bold)
            let head = "\(index + 1). \(title)  [\(message.id.visible())]\(lockout)"
            let text = message.text.visible(keepsNewlines: true)
                .split(separator: "\n", omittingEmptySubsequences: false).map { terminal.paragraphs("   \($0)") }
            let others = [
                message.link.map { "   \($0.visible())" },
                message.hints.map { terminal.paragraphs("   \($0.sentence)") },
            ]
            return [terminal.paragraphs(head, indentation: "   ")] + text + others.compactMap(\.self)
        }.joined(separator: "\n")
    }
}
