import Foundation
import NIOHTTP1
import TestDatabase
import TestSystem
import UpdatePolicy

/// Where the steps of a transcript are carried out: a database, a folder, a psql for each role and, if a step starts it, a
/// server.
final class TranscriptStage {
    private let database: WarmDatabase
    private let folder: String
    private var holes: TranscriptHoles
    private var server: (serving: ServingBinary, stop: @Sendable () async throws -> String)?

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
                    _ = try? await stage.end()
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
        var text = holes.filled(step.text)
        let filter = TranscriptFilter(cutFrom: &text)
        switch step.action {
        case .sql(let role):
            let roles = role == "each" ? "server,viewer,brake,planner,admin" : role
            var answers: [[String]] = []
            for one in roles.split(separator: ",") {
                let psql = try database.psql(String(one))
                answers.append(try await filter.apply { lines("    ", try await psql.answer(text)) })
            }
            guard answers.allSatisfy({ $0 == answers[0] }) else {
                throw Transcript.Fault(description: "\(roles) are not answered the same: \(text): \(answers)")
            }
            return answers[0]
        case .fixture(let name):
            let file = Transcript.folder.appending(path: "fixtures/\(name).sql").path
            return lines("    ", try await database.psql("admin").answer("\\i \(file)"))
        case .file(let name):
            try Data(holes.filled(step.text).utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            return []
        case .command:
            let before = try await revision()
            let answer = try await filter.apply { try await command(text) }
            let ends = TranscriptEnds(
                step: step, isPartOfOutput: filter.text != nil, before: before, after: try await revision()
            )
            return try ends.cut(answer)
        case .request(let isManagement):
            guard let server = server?.serving else {
                throw Transcript.Fault(description: "there is no server: versiongate serve &")
            }
            if !filter.awaits { try await server.ready(at: revision()) }
            return try await filter.apply(keepingFirst: true) { try await request(text, server, isManagement) }
        }
    }

    private func revision() async throws -> Int {
        let answer = try await database.psql("owner").answer("SELECT revision FROM policy_revision")
        guard let revision = Int(answer.dropLast()) else {
            throw Transcript.Fault(description: "the revision cannot be read: \(answer)")
        }
        return revision
    }

    /// Ends the server.
    ///
    /// - Returns: What it logged.
    @discardableResult
    private func end() async throws -> String {
        let log = try await server?.stop()
        server = nil
        return log ?? ""
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
        if words.first == "wait" { return lines("    ", try await end()) }
        guard !words.isEmpty, words.removeFirst() == "versiongate" else {
            return shown(try await BuiltBinary(environment: environment(own, of: words)).shell(shellScript(text)))
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
        return shown(try await binary.run(arguments: words, input: input))
    }

    private func shown(_ result: BuiltBinary.Result) -> [String] {
        let status = result.status == 0 ? [] : ["  ? \(result.status)"]
        return lines("    ", result.output) + lines("  ! ", result.errors) + status
    }

    /// A script of bash in the folder of the case, where `$SERVER` is the process of the server.
    private func shellScript(_ text: String) -> String {
        """
        cd \(folder.shellWord); SERVER=\(server?.serving.processIdentifier ?? 0)
        versiongate() { "$VERSIONGATE" "$@"; }
        \(text)
        """
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
            return ending.errors
        }
        for await serving in ready {
            holes.texts.removeAll { ["{public}", "{management}", "{server}"].contains($0.name) }
            let address = serving.publicURL.replacing("http://", with: "")
            holes.texts += [
                (address, "{public}"), (serving.managementURL.replacing("http://", with: ""), "{management}"),
                (try Self.machine() + address.drop { $0 != ":" }, "{server}"),
            ]
            server = (
                serving,
                {
                    stop.finish()
                    return try await run.value
                }
            )
            return
        }
        _ = try await run.value
    }

    /// The name of the machine, with which servers call themselves.
    private static func machine() throws -> String {
        try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    /// Sends a request: `[-i] METHOD TARGET [BODY]`, then headers.
    private func request(_ text: String, _ server: ServingBinary, _ isManagement: Bool) async throws -> [String] {
        guard let match = text.firstMatch(of: #/^(-i )?([A-Z]+) (\S+)(?: ([^\n]*))?/#) else {
            throw Transcript.Fault(description: "is no request: \(text)")
        }
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
