import Foundation
import UpdatePolicy

/// Shows the messages of an answer to people.
struct MessagesText {
    private struct MessageList: Decodable {
        let messages: [Entry]
    }

    private struct Entry: Decodable {
        let id: String
        let title: String
        let text: String
        let link: String?
        let lockout: Bool?
        let until: Int64?
        let remind: Int64?
        let shows: Int64?
        let skip: Bool?
        let target: String?

        var hints: MessageHints? {
            guard remind != nil || shows != nil || skip == true else { return nil }
            return MessageHints(remind: remind, shows: shows, skip: skip == true, target: target)
        }
    }

    private let messages: [Entry]

    /// Reads the body of an answer.
    init(answer: String) throws {
        guard let answer = try? JSONDecoder().decode(MessageList.self, from: Data(answer.utf8)) else {
            throw CommandError(
                "the server's answer is not that of a check; is this the address of a versiongate server?"
            )
        }
        messages = answer.messages
    }

    /// The messages in order for standard output, without a line break at the end.
    var text: String { text(for: .standardOutput) }

    /// The messages in order, without a line break at the end.
    func text(for terminal: Terminal) -> String {
        guard !messages.isEmpty else { return "No messages." }
        return messages.enumerated().map { index, message in
            let end = message.until.map { " until \(TimeText.local(Timestamp(secondsSince1970: $0)))" } ?? ""
            let lockout = message.lockout == true ? "  " + terminal.styled("LOCKOUT\(end)", .red) : ""
            let title = terminal.styled(message.title.visible(), .bold)
            var lines = [
                terminal.paragraphs("\(index + 1). \(title)  [\(message.id.visible())]\(lockout)", indentation: "   ")
            ]
            lines += message.text.visible(keepsNewlines: true)
                .split(separator: "\n", omittingEmptySubsequences: false).map { terminal.paragraphs("   \($0)") }
            if let link = message.link { lines.append("   \(link.visible())") }
            if let hints = message.hints?.sentence { lines.append(terminal.paragraphs("   \(hints)")) }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
