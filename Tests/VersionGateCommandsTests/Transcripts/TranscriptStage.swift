import Foundation
import NIOHTTP1
import TestDatabase
import TestSystem

/// Where the steps of a transcript are carried out: a database, a folder, a psql for each role and, if a step starts it, a
/// server.
final class TranscriptStage {
    private let database: WarmDatabase
    private let folder: String
    private var holes: TranscriptHoles
    private var server: (serving: ServingBinary, stop: @Sendable () async throws -> Void)?

    /// Runs `body` with the rows of a new database and an empty folder, and stops what it started.
    ///
    /// - Parameter inputs: Everything that the steps say.
    static func with(inputs: String, _ body: (TranscriptStage) async throws -> Void) async throws {
        try await WarmDatabase.with { database in
            try await StateFolder.with { folder in
                let stage = TranscriptStage(database, folder: folder.path, inputs: inputs)
                do {
                    try await body(stage)
                } catch {
                    try? await stage.end()
                    throw error
                }
                try await stage.end()
            }
        }
    }

    private init(_ database: WarmDatabase, folder: String, inputs: String) {
        self.database = database
        self.folder = folder
        holes = TranscriptHoles(inputs: inputs)
        holes.texts = [
            (folder, "{folder}"), (database.database.url(user: "versiongate_admin"), "{database}"),
            (database.database.service(user: "versiongate_admin"), "{service}"),
        ]
    }

    /// Carries out a step.
    ///
    /// - Returns: The lines of its answer, as a transcript has them.
    func answer(_ step: Transcript.Step) async throws -> [String] {
        let text = holes.filled(step.text)
        switch step.action {
        case .sql(let role):
            let roles = role == "each" ? "server,viewer,brake,planner,admin" : role
            var answers: [[String]] = []
            for one in roles.split(separator: ",") {
                answers.append(lines("    ", try await database.psql(String(one)).answer(text)))
            }
            guard answers.allSatisfy({ $0 == answers[0] }) else {
                throw Transcript.Fault(description: "\(roles) are not answered the same: \(text): \(answers)")
            }
            return answers[0]
        case .fixture(let name):
            let file = Transcript.folder.appending(path: "fixtures/\(name).sql").path
            return lines("    ", try await database.psql("admin").answer("\\i \(file)"))
        case .file(let name):
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            return []
        case .command:
            let before = try await revision()
            let answer = try await command(text)
            let ends = TranscriptEnds(
                step: step, isPartOfOutput: text.contains(" | grep "), before: before, after: try await revision()
            )
            return try ends.cut(answer)
        case .request(let isManagement): return try await request(text, isManagement)
        }
    }

    private func revision() async throws -> Int {
        let answer = try await database.psql("owner").answer("SELECT revision FROM policy_revision")
        guard let revision = Int(answer.dropLast()) else {
            throw Transcript.Fault(description: "the revision cannot be read: \(answer)")
        }
        return revision
    }

    private func end() async throws {
        try await server?.stop()
        server = nil
    }

    private func lines(_ margin: String, _ text: String) -> [String] {
        var lines = holes.cut(text).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.isEmpty ? "" : margin + line.reversed().drop { $0.isWhitespace }.reversed()
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        while lines.first?.isEmpty == true { lines.removeFirst() }
        return lines
    }

    /// The environment of a command: the database is the service `test`, clocks show the time of central Europe.
    private func environment(_ own: [String: String], of words: [String]) throws -> [String: String] {
        var variables = ["TZ": BuiltBinary.centralEurope]
        if words.first == "serve" {
            variables["DATABASE_URL"] = database.database.url(user: "versiongate_server")
        } else if own["DATABASE_URL"] == nil {
            let file = "\(folder)/pg_service.conf"
            let service = "[\(TestDatabase.service)]\n\(database.database.service(user: "versiongate_admin"))\n"
            try Data(service.utf8).write(to: URL(fileURLWithPath: file))
            variables.merge(["PGSERVICEFILE": file, "PGSERVICE": TestDatabase.service]) { $1 }
        }
        return variables.merging(own) { $1 }.filter { $0.value != "-" }
    }

    private func command(_ text: String) async throws -> [String] {
        var words = [String](shellWordsOf: text)
        var own: [String: String] = [:]
        while let word = words.first, let match = word.wholeMatch(of: /([A-Z_]+)=([\s\S]*)/) {
            own[String(match.1)] = String(match.2)
            words.removeFirst()
        }
        guard words.first == "versiongate" else {
            throw Transcript.Fault(description: "no command but versiongate can be run: \(text)")
        }
        words.removeFirst()
        var wanted: String?
        if words.count > 3, words[words.count - 3..<words.count - 1] == ["|", "grep"] {
            wanted = words.last
            words.removeLast(3)
        }
        var input = "/dev/null"
        if words.count > 2, words[words.count - 2] == "<" {
            input = words[words.count - 1]
            words.removeLast(2)
        }
        let binary = BuiltBinary(environment: try environment(own, of: words))
        if words.last == "&" {
            try await start(binary, Array(words.dropFirst().dropLast()))
            return []
        }
        let result = try await binary.run(arguments: words, input: input)
        let status = result.status == 0 ? [] : ["  ? \(result.status)"]
        let output = result.output.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in wanted.map { line.contains($0) } ?? true }
        return lines("    ", output.joined(separator: "\n")) + lines("  ! ", result.errors) + status
    }

    private func start(_ binary: BuiltBinary, _ arguments: [String]) async throws {
        try await end()
        let (ready, isReady) = AsyncStream.makeStream(of: ServingBinary.self)
        let (stopping, stop) = AsyncStream.makeStream(of: Never.self)
        let run = Task {
            defer { isReady.finish() }
            let ending = try await ServingBinary.run(binary, arguments: arguments) { serving in
                isReady.yield(serving)
                for await _ in stopping {}
            }
            guard ending.status == 0 else {
                throw Transcript.Fault(description: "the server ended with \(ending.status ?? -1): \(ending.errors)")
            }
        }
        for await serving in ready {
            holes.texts.removeAll { ["{public}", "{management}"].contains($0.name) }
            holes.texts += [
                (serving.publicURL.replacing("http://", with: ""), "{public}"),
                (serving.managementURL.replacing("http://", with: ""), "{management}"),
            ]
            server = (
                serving,
                {
                    stop.finish()
                    try await run.value
                }
            )
            return
        }
        try await run.value
    }

    /// Sends a request once the server has the policy that the database has: `[-i] METHOD TARGET [BODY]`, then headers.
    private func request(_ text: String, _ isManagement: Bool) async throws -> [String] {
        guard let server = server?.serving else {
            throw Transcript.Fault(description: "there is no server: versiongate serve &")
        }
        guard let match = text.firstMatch(of: #/^(-i )?([A-Z]+) (\S+)(?: ([^\n]*))?/#) else {
            throw Transcript.Fault(description: "is no request: \(text)")
        }
        try await server.ready(at: revision())
        var headers = HTTPHeaders()
        for line in text.split(separator: "\n").dropFirst() {
            let halves = line.split(separator: ": ", maxSplits: 1)
            headers.add(name: String(halves[0]), value: halves.count > 1 ? String(halves[1]) : "")
        }
        let answer = try await HTTPAnswer(
            (isManagement ? server.managementURL : server.publicURL) + match.3,
            method: .init(rawValue: String(match.2)),
            headers, body: String(match.4 ?? "")
        )
        let shown = answer.headers.filter {
            match.1 != nil && !["date", "content-length"].contains($0.name.lowercased())
        }
        .map { "\($0.name): \($0.value)\n" }.joined()
        return lines("    ", "\(answer.status)\n\(shown)\(answer.body)")
    }
}
