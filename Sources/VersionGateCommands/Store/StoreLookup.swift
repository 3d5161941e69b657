import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import UpdatePolicy

/// A question to a store: which version of an app it has.
struct StoreQuestion: Sendable, Hashable {
    let bundle: String
    /// The number of the app in the store; nil: it is asked for by its bundle.
    let storeID: Int64?
    /// The country whose store is asked; nil: the store chooses.
    let country: String?

    /// Path and query behind the address of the store.
    var path: String {
        let app = storeID.map { "id=\($0)" } ?? "bundleId=\(bundle.percentEncoded)"
        return "/lookup?\(app)" + (country.map { "&country=\($0)" } ?? "")
    }

    /// Why there is nothing to record.
    func error(_ reason: String) -> CommandError {
        CommandError("the store\(country.map { " of \($0)" } ?? "") was asked for \(bundle): \(reason)")
    }
}

/// What became of a question to a store.
enum StoreAnswer: Sendable {
    case release(StoreRelease)
    /// The store does not have the app.
    case absent
    /// There is no answer, or none that is taken.
    case refused(String)
}

/// Asks a store politely: few questions at a time, each once and bounded, none for what has not changed, none before the
/// time that the store asks to wait for.
struct StoreLookup {
    /// The address before `/lookup`.
    let base: String
    /// The folder where answers are kept; nil: nowhere.
    let folder: String?
    /// The time that an answer may take.
    var limit = TimeAmount.seconds(10)

    private static let mostAtOnce = 4
    /// The time after which no further question is asked.
    private static let limitOfPass = Duration.seconds(300)
    private static let largestAnswer = 1 << 20

    /// Asks all questions.
    func answers(to questions: [StoreQuestion]) async throws -> [(question: StoreQuestion, answer: StoreAnswer)] {
        let base = self.base.hasSuffix("/") ? String(self.base.dropLast()) : self.base
        guard HTTPExchange.Address(base) != nil else {
            throw CommandError("--store-url is \"\(base)\", which is no address; write it as https://itunes.apple.com")
        }
        let memory = StoreMemory(folder: folder, base: base)
        let end = ContinuousClock.now + Self.limitOfPass
        var answers: [StoreQuestion: StoreAnswer] = [:]
        await withTaskGroup(of: (StoreQuestion, StoreAnswer).self) { group in
            var rest = questions.makeIterator()
            func askNext() {
                guard let question = rest.next() else { return }
                group.addTask {
                    guard ContinuousClock.now < end else { return (question, .refused("no time was left to ask")) }
                    return (question, await answer(to: question, at: base, memory))
                }
            }
            for _ in 0..<Self.mostAtOnce { askNext() }
            while let (question, answer) = await group.next() {
                answers[question] = answer
                askNext()
            }
        }
        await memory.save()
        return questions.compactMap { question in answers[question].map { (question, $0) } }
    }

    private func answer(to question: StoreQuestion, at base: String, _ memory: StoreMemory) async -> StoreAnswer {
        if let time = await memory.wait(until: .now()) {
            return .refused("it asks to wait until \(TimeText.local(time))")
        }
        guard let address = HTTPExchange.Address(base + question.path) else {
            return .refused("there is no such address")
        }
        let known = await memory.answer(to: question)
        var headers: HTTPHeaders = [
            "Accept": "application/json", "Accept-Encoding": "identity",
            "User-Agent": "versiongate/\(VersionGate.versionText)",
        ]
        if let known { headers.add(name: "If-None-Match", value: known.tag) }
        let response: HTTPExchange.Response
        do {
            response = try await HTTPExchange(
                address: address, method: .GET, headers: headers, body: "", limit: limit,
                largestBody: Self.largestAnswer
            ).answer()
        } catch {
            return .refused(reason(error))
        }
        if let field = response.headers.first(name: "Retry-After"), [429, 503].contains(response.status.code) {
            await memory.pause(field, now: .now())
        }
        switch response.status {
        case .notModified:
            guard let known else { return .refused("it answers 304 to a question without an ETag") }
            return .release(known.release)
        case .ok:
            guard [nil, "identity"].contains(response.headers.first(name: "Content-Encoding")?.lowercased()) else {
                return .refused("its answer is compressed, which was not asked for")
            }
            let answer = StoreRelease.read(Data(response.body.readableBytesView), for: question)
            if case .release(let release) = answer, let tag = response.headers.first(name: "ETag") {
                await memory.keep(release, tag: tag, for: question)
            }
            return answer
        default:
            if let location = response.location {
                return .refused("it sends on to \(location); give the address that it leads to with --store-url")
            }
            return .refused("it answers \(response.statusText)")
        }
    }

    private func reason(_ error: any Error) -> String {
        switch error {
        case HTTPExchange.Failure.late, is ChannelError:
            "it does not answer within \(limit.nanoseconds / 1_000_000_000) seconds"
        case HTTPExchange.Failure.large: "its answer is larger than \(Self.largestAnswer >> 20) MiB"
        case HTTPExchange.Failure.closed: "it closed the connection without an answer"
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { "it cannot be reached: \($0.reason)" } ?? "no such host is known"
        default: "\(error)".cut()
        }
    }
}
