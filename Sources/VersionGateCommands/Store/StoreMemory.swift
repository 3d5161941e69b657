import Foundation
import UpdatePolicy

/// What is remembered from one pass to the next: answers with their ETags, and how long the store asks to wait.
///
/// It saves questions and nothing else, so a file that cannot be read or written is as good as none.
actor StoreMemory {
    /// An answer, and its ETag.
    struct Answer: Codable {
        let tag: String
        let release: StoreRelease
    }

    private struct Contents: Codable {
        var answers: [String: Answer] = [:]
        /// Seconds since 1970, by the address of the store.
        var waits: [String: Int64] = [:]
    }

    /// The longest that a store is left alone.
    private static let longestWait: Int64 = 86_400
    private static let longestTag = 256
    private static let mostAnswers = 10_000

    private let path: String?
    private let base: String
    private var contents: Contents

    /// Reads what an earlier pass kept in a folder.
    init(folder: String?, base: String) {
        path = folder.map { "\($0)/store-answers.json" }
        self.base = base
        let data = path.flatMap { FileManager.default.contents(atPath: $0) }
        contents = data.flatMap { try? JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    }

    /// The answer that is kept.
    func answer(to question: StoreQuestion) -> Answer? {
        guard let answer = contents.answers[base + question.path], AppVersion(answer.release.version) != nil else {
            return nil
        }
        return answer
    }

    func keep(_ release: StoreRelease, tag: String, for question: StoreQuestion) {
        guard tag.utf8.count <= Self.longestTag, contents.answers.count < Self.mostAnswers else { return }
        contents.answers[base + question.path] = Answer(tag: tag, release: release)
    }

    /// Until when nothing is asked; nil: a question is welcome.
    func wait(until now: Timestamp) -> Timestamp? {
        guard let end = contents.waits[base].map({ Timestamp(secondsSince1970: $0) }), end > now else { return nil }
        return end
    }

    /// Notes how long the store asks to wait: seconds, or a date of HTTP.
    func pause(_ field: String, now: Timestamp) {
        let present = now.microsecondsSince1970 / 1_000_000
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let date = formatter.date(from: field).map { Int64(clamping: Int($0.timeIntervalSince1970)) - present }
        guard let seconds = Int64(field) ?? date, seconds > 0 else { return }
        contents.waits[base] = present + min(seconds, Self.longestWait)
    }

    /// Writes it; only the owner can read it.
    func save() {
        guard let path else { return }
        do {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: geteuid() == 0 ? 0o711 : 0o700]
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: attributes
            )
            try JSONEncoder().encode(contents).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            CommandError("what the store answered cannot be kept in \(path), so all is asked again: \(error)")
                .printAsWarning()
        }
    }
}
