import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Postgres
import UpdatePolicy

struct StoreQuestion: Sendable, Hashable {
    let bundle: String
    let storeID: Int64?
    let country: String?

    var path: String {
        let app = storeID.map { "id=\($0)" } ?? "bundleId=\(bundle.percentEncoded)"
        return "/lookup?\(app)" + (country.map { "&country=\($0)" } ?? "")
    }

    func error(_ reason: String) -> CommandError {
        CommandError("the store\(country.map { " of \($0)" } ?? "") was asked for \(bundle): \(reason)")
    }
}

enum StoreAnswer: Sendable {
    case release(StoreRelease)
    case absent
    case refused(String)
}

/// Asks a store politely: few questions at a time, each once and bounded, none for what has not changed, none before the
/// time that the store asks to wait for.
struct StoreLookup {
    let base: String
    let folder: String?
    var limit = TimeAmount.seconds(10)

    private static let mostAtOnce = 4
    private static let largestAnswer = 1 << 20

    func answers(to questions: [StoreQuestion]) async -> [(question: StoreQuestion, answer: StoreAnswer)] {
        let base = base.hasSuffix("/") ? String(base.dropLast()) : base
        let cache = HTTPCache(folder: folder, base: base)
        let end = ContinuousClock.now + .seconds(300)
        var answers: [StoreQuestion: StoreAnswer] = [:]
        await withTaskGroup(of: (StoreQuestion, StoreAnswer).self) { group in
            for (index, question) in questions.enumerated() {
                if index >= Self.mostAtOnce, let (done, answer) = await group.next() { answers[done] = answer }
                group.addTask {
                    guard ContinuousClock.now < end else { return (question, .refused("no time was left")) }
                    return (question, await answer(to: question, at: base, cache))
                }
            }
            for await (done, answer) in group { answers[done] = answer }
        }
        await cache.save()
        return questions.compactMap { question in answers[question].map { (question, $0) } }
    }

    private func answer(to question: StoreQuestion, at base: String, _ cache: HTTPCache) async -> StoreAnswer {
        if let end = await cache.pause, end > .now() { return .refused("it asks to wait until \(TimeText.local(end))") }
        guard let address = HTTPExchange.Address(base + question.path) else {
            return .refused("there is no such address")
        }
        let known = await cache.answer(to: question)
        var headers: HTTPHeaders = [
            "Accept": "application/json", "Accept-Encoding": "identity",
            "User-Agent": "versiongate/\(VersionGate.versionText)",
        ]
        if let known { headers.add(name: "If-None-Match", value: known.tag) }
        let (head, body): (HTTPResponseHead, ByteBuffer?)
        do {
            let exchange = HTTPExchange(
                address: address, headers: headers, limit: limit, largestBody: Self.largestAnswer)
            let answer = try await exchange.answer()
            (head, body) = (answer.head, answer.body)
        } catch {
            return .refused(reason(error))
        }
        if let field = head.headers.first(name: "Retry-After"), [429, 503].contains(head.status.code) {
            await cache.setPause(field)
        }
        switch head.status {
        case .notModified:
            return known.map { .release($0.release) } ?? .refused("it answers 304 to a question without an ETag")
        case .ok:
            guard [nil, "identity"].contains(head.headers.first(name: "Content-Encoding")?.lowercased()) else {
                return .refused("its answer is compressed, which was not asked for")
            }
            let answer = StoreDocument.answer(Data((body ?? ByteBuffer()).readableBytesView), to: question)
            if case .release(let release) = answer, let tag = head.headers.first(name: "ETag"), tag.utf8.count < 256 {
                await cache.keep(.init(tag: tag, release: release), for: question)
            }
            return answer
        default:
            let place = (300..<400).contains(head.status.code) ? head.headers.first(name: "Location")?.cut() : nil
            return .refused(
                place.map { "it redirects to \($0); give the new address with --store-url" }
                    ?? "it answers \(head.status.code) \(head.status.reasonPhrase.cut())"
            )
        }
    }

    private func reason(_ error: any Error) -> String {
        switch error {
        case HTTPExchange.Failure.late, is ChannelError:
            "it does not answer within \(limit.nanoseconds / 1_000_000_000) seconds"
        case let error as NIOHTTPObjectAggregatorError where error == .frameTooLong:
            "its answer is larger than \(Self.largestAnswer >> 20) MiB"
        case HTTPExchange.Failure.closed: "it closed the connection without an answer"
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { "it cannot be reached: \($0.reason)" } ?? "no such host is known"
        default: "\(error)".cut()
        }
    }
}

private struct StoreDocument: Decodable {
    let results: [Result]

    struct Result: Decodable {
        let bundleId: String
        let version: String
        let kind: String?
        let minimumOsVersion: String?
    }

    static func answer(_ body: Data, to question: StoreQuestion) -> StoreAnswer {
        guard let document = try? JSONDecoder().decode(Self.self, from: body) else {
            return .refused("its answer is not that of a look-up of the App Store")
        }
        guard let result = document.results.first else { return .absent }
        guard ASCII.lowercased(result.bundleId) == ASCII.lowercased(question.bundle) else {
            return .refused("its answer is about \(result.bundleId.cut())")
        }
        guard [nil, "software"].contains(result.kind) else {
            return .refused("its answer is about another platform (\(result.kind?.cut() ?? ""))")
        }
        // Without it the release would be a way out on every system.
        guard let least = result.minimumOsVersion, !least.isEmpty else {
            return .refused("its answer does not say which system \(result.version.cut()) needs")
        }
        for version in [result.version, least] where AppVersion(version) == nil {
            return .refused("\"\(version.cut())\" in its answer is not a version")
        }
        return .release(StoreRelease(version: result.version, minOS: least))
    }
}

/// What one pass keeps for the next: answers with their ETags, and how long the store asks to wait.
///
/// It saves questions and nothing else, so a file that cannot be read is as good as none.
private actor HTTPCache {
    struct Answer: Codable {
        let tag: String
        let release: StoreRelease
    }

    private struct Contents: Codable {
        var answers: [String: Answer] = [:]
        /// Seconds since 1970, by the address of the store.
        var waits: [String: Int64] = [:]
    }

    private let path: String?
    private let base: String
    private var contents: Contents

    init(folder: String?, base: String) {
        (path, self.base) = (folder.map { "\($0)/store-answers.json" }, base)
        let data = path.flatMap { FileManager.default.contents(atPath: $0) }
        contents = data.flatMap { try? JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    }

    func answer(to question: StoreQuestion) -> Answer? { contents.answers[base + question.path] }

    func keep(_ answer: Answer, for question: StoreQuestion) { contents.answers[base + question.path] = answer }

    var pause: Timestamp? { contents.waits[base].map { Timestamp(secondsSince1970: $0) } }

    /// Keeps how long the store asks to wait, a day at most: seconds, or a date of HTTP.
    func setPause(_ field: String) {
        let now = Int64(Date().timeIntervalSince1970)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        let seconds = Int64(field) ?? formatter.date(from: field).map { Int64($0.timeIntervalSince1970) - now } ?? 0
        if seconds > 0 { contents.waits[base] = now + min(seconds, 86_400) }
    }

    func save() {
        guard let path else { return }
        do {
            let (files, file) = (FileManager.default, URL(fileURLWithPath: path))
            try files.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: geteuid() == 0 ? 0o711 : 0o700]
            )
            try JSONEncoder().encode(contents).write(to: file, options: .atomic)
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            warn("what the store answered cannot be kept in \(path), so all is asked again: \(error)")
        }
    }
}
