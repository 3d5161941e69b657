import HTTPTypes
import Hummingbird
import Logging
import NIOEmbedded
import Postgres
import Reports
import TestDatabase
import Testing
import UpdatePolicy

@testable import PolicyPages
@testable import PolicyStore

/// A server whose policy is full of one text, with its database away.
struct TestScene {
    static let now = Timestamp(secondsSince1970: 1_795_000_000)

    /// What the policy says everywhere where it may say anything.
    let text: String
    let facts: ServerFacts
    let pages: PolicyPages

    /// - Parameters:
    ///   - text: Stands wherever the policy may have any text.
    ///   - bundle: The app.
    ///   - heldAt: Since when the steps of the rule d are held.
    init(_ text: String, bundle: String? = nil, heldAt: Timestamp? = nil) throws {
        self.text = text
        let bundle = bundle ?? text
        var facts = ServerFacts()
        facts.policy = try CompiledPolicy(
            Policy(
                revision: 41,
                token: "token",
                apps: [
                    App(bundle: bundle, name: text) {
                        $0.note = text
                        $0.storeLinks = [StoreLink(platform: "ios", link: "market:" + text)]
                    }
                ],
                releases: [
                    Release(id: 1, bundle: bundle, platform: "ios", version: "1.2") {
                        $0.liveAt = Self.now.advanced(byMicroseconds: -1_000_000_000)
                        $0.note = text
                    }
                ],
                rules: [
                    Rule(key: "a", title: text, text: text) {
                        $0.bundle = bundle
                        $0.attributes = [
                            AttributeCondition(name: "x" + text, values: [text]),
                            AttributeCondition(name: "y" + text, .not([UTF8Text(text)])),
                        ]
                        $0.link = "market:" + text
                        $0.lockout = true
                        $0.note = text
                        $0.texts = [RuleText(language: "de", title: text, text: text)]
                    },
                    Rule(key: "b", title: text, text: text) {
                        $0.bundle = bundle
                        $0.link = "https://example.com/" + text
                        $0.final = true
                    },
                    Rule(key: "c", title: text, text: text) {
                        $0.rollout = Percentage("12.5") ?? .all
                    },
                    Rule(key: "d", title: text, text: text) {
                        $0.bundle = bundle
                        $0.enabled = false
                        $0.target = "1.2"
                        $0.heldAt = heldAt
                        $0.steps = [RolloutStep(at: Self.now.advanced(byMicroseconds: 3_600_000_000), rollout: .all)]
                    },
                ]
            )
        )
        facts.loadedAt = Self.now.advanced(byMicroseconds: -60_000_000)
        facts.lastPolledAt = Self.now.advanced(byMicroseconds: -90_000_000)
        facts.databaseAddress = text
        facts.faults = [(text, text)]
        facts.unknownBundles = [(name: text, checks: 12, error: 2)]
        facts.unknownLanguages = [(name: text, checks: 16, error: 0)]
        self.facts = facts
        pages = PolicyPages.away(facts)
    }

    /// A page by its path, each part of which is encoded, and its query.
    func page(_ path: [String], _ query: [(String, String)] = []) async throws -> PageAnswer {
        let query = query.map { "\($0.percentEncoded)=\($1.percentEncoded)" }.joined(separator: "&")
        return try await pages.answer(
            "/" + path.map(\.percentEncoded).joined(separator: "/") + (query.isEmpty ? "" : "?\(query)")
        )
    }

    /// What is on a page.
    func html(_ path: [String], _ query: [(String, String)] = []) async throws -> String {
        try await page(path, query).body
    }

    /// Every page, by its name, with figures of the database where the page has any.
    func allPages() async throws -> [(name: String, html: String)] {
        let question = [
            ("bundle", text), ("version", text), ("build", text), ("platform", text), ("region", text), ("os", text),
            ("language", text), ("attributes", "channel=" + text.filter { !$0.isNewline }),
        ]
        var pages: [(String, PageAnswer)] = [
            ("overview", try await page([])), ("app", try await page(["apps", text])),
            ("rule a", try await page(["rules", "a"])),
            ("rule b", try await page(["rules", "b"])), ("rule d", try await page(["rules", "d"])),
            ("try", try await page(["try"], question)),
            ("wrong try", try await page(["try"], [("bundle", text), ("at", text)])),
            ("wrong revision", try await page(["try"], [("revision", text)])),
            ("other member", try await page(["try"], [("x" + text, "1")])),
            ("past", try await page(["try"], [("bundle", text), ("revision", "7")])),
            ("apps", try await page(["apps"])), ("rules", try await page(["rules"])),
            ("unknowns", try await page(["unknowns"])),
            ("history away", try await page(["history"], [("about", text)])),
            ("wrong time", try await page(["history"], [("since", text)])),
            ("no app", try await page(["apps", "no" + text])), ("no rule", try await page(["rules", "no" + text])),
            ("no page", try await page([text, text])),
            ("wrong days", try await page(["apps", text], [("days", text)])),
            ("no chart", try await page(["apps", text, "versions.csv"])),
        ]
        pages.append(("whole page", try await PageAnswer(wholePage())))
        return pages.map { ($0, $1.body) }
    }

    /// A page with all that the database may say.
    private func wholePage() throws -> Response {
        let policy = Page(facts, at: Self.now).policy(ofApp: nil)
        let chart = Chart(
            name: "versions", question: "Which?", answer: text, shape: .bars, unit: .share, axis: .names([text, "b"]),
            series: [Chart.Series(name: text, values: [0.5, 0.5])],
        )
        let statuses = [
            "a": RuleStatus(name: .onWithoutLockout, since: Self.now, next: Self.now, reason: Sentence(text))
        ]
        let share = LockoutShare(
            checks: 100, lockouts: 50, before: 0, isRecent: true,
            change: .init(id: 40, at: Self.now, role: text, tool: text)
        )
        let versions = [
            VersionCount(bundle: text, platform: "ios", version: "?" + text, checks: 3),
            VersionCount(bundle: text, platform: "x" + text, version: "1.2", checks: 2),
            VersionCount(bundle: text, platform: "ios", version: "9.9", checks: 1),
            VersionCount(bundle: text, platform: "ios", version: "1.2-qa", checks: 1),
        ]
        var page = Page(facts, at: Self.now)
        let rules = policy.rules.map { page.present($0, statuses, share: share) }
        page.opening = Report.inForce(
            [
                EnabledLockout(
                    rule: policy.rules[0], status: RuleStatus(name: .on, since: nil, next: nil, reason: nil),
                    share: share)
            ],
            isBraked: false
        )
        page.noteForbidden(text, role: text)
        page.add(
            .changes([change], ifEmpty: ""),
            .table(
                Report.rules(
                    rules, ofApp: true,
                    LastDay(
                        checks: 100, rules: ["a": .init(sent: 50, lockouts: 10), "c": .init(sent: 1, lockouts: 0)]),
                    at: Self.now
                )
            ), .table(Report.rules(rules, ofApp: false, nil, at: Self.now)),
            .fields(Report.fields(rules[0], fuse: nil, note: text, at: Self.now))
        )
        page.add("charts", Page.charts([chart], of: Subject.app(text).address, days: 7))
        page.add(page.unconfigured(versions))
        return page.response(text, heading: Sentence(text))
    }

    private var change: PolicyChange {
        PolicyChange(
            id: 40,
            at: Self.now,
            role: text,
            osUser: text,
            tool: text,
            why: text,
            undoes: 39,
            rows: [
                .init(
                    table: "rules", key: text, kind: .changed,
                    columns: [.init(name: "title", before: text, after: text)]
                ),
                .init(table: text, key: text, kind: .added, columns: [.init(name: text, before: nil, after: text)]),
                .init(
                    table: "apps", key: text, kind: .removed, columns: [.init(name: "name", before: text, after: nil)]
                ),
            ],
            counts: [
                .init(table: "rules", kind: .changed, rows: 1), .init(table: text, kind: .added, rows: 1),
                .init(table: "apps", kind: .removed, rows: 3),
            ]
        )
    }
}

extension PolicyPages {
    /// The pages of a server whose database is away.
    static func away(_ facts: ServerFacts) -> PolicyPages {
        PolicyPages(
            facts: { facts }, database: { PostgresConfiguration(connectionString: "postgresql://127.0.0.1:1/nothing") },
            clock: { TestScene.now }, logger: Logger(label: "test")
        )
    }

    /// The pages of a server whose database is away, and which has rules for the app `a` or for every app.
    static func away(rules: [Rule]) throws -> PolicyPages {
        var facts = ServerFacts()
        facts.policy = try CompiledPolicy(
            Policy(revision: 1, token: "token", apps: [App(bundle: "a")], releases: [], rules: rules)
        )
        return away(facts)
    }

    /// The pages of a server that answers by a policy of its own, beside the database of the test, whose clock is its clock.
    static func answering(
        sendsLockouts: Bool = true,
        by policy: (_ now: Timestamp) -> Policy
    ) async throws -> PolicyPages {
        let owner = try await TestDatabase.current.connect()
        let now: Timestamp = try await owner.query("SELECT now()").value()
        var facts = ServerFacts()
        facts.databaseIsReachable = true
        facts.policy = try CompiledPolicy(policy(now)).sendingLockouts(sendsLockouts)
        facts.isBraked = !sendsLockouts
        let role = TestDatabase.current.url(user: "versiongate_viewer")
        return PolicyPages(
            facts: { [facts] in facts }, database: { PostgresConfiguration(connectionString: role) }, clock: { now },
            logger: Logger(label: "test")
        )
    }

    /// What is on a page that is there.
    func html(at path: String) async throws -> String {
        let answer = try await answer(path)
        #expect(answer.status == 200, "\(path)")
        return answer.body
    }

    /// The answer at an address, by the router that a server has.
    nonisolated func answer(_ address: String, knownTag: String? = nil) async throws -> PageAnswer {
        let router = Router(context: BasicRequestContext.self)
        addRoutes(to: router.group())
        let request = Self.request(address, knownTag)
        let logger = Logger(label: "test")
        let context = BasicRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        )
        let response = try await router.buildResponder().respond(to: request, context: context)
        // The router has no page of its own for what is at no path.
        let isLost = response.status == .notFound && response.headers[.contentSecurityPolicy] == nil
        return try await PageAnswer(isLost ? notFound(request) : response)
    }

    static func request(_ address: String, _ knownTag: String? = nil) -> Request {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: address)
        head.headerFields[.ifNoneMatch] = knownTag
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }
}

/// An answer that was written.
struct PageAnswer {
    let status: Int
    let fields: HTTPFields
    let body: String

    init(_ response: Response) async throws {
        final class Written { var bytes = ByteBuffer() }
        struct Writer: ResponseBodyWriter {
            let written: Written
            mutating func write(_ buffer: ByteBuffer) async throws { written.bytes.writeImmutableBuffer(buffer) }
            consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
        }
        let written = Written()
        try await response.body.write(Writer(written: written))
        status = response.status.code
        fields = response.headers
        body = String(buffer: written.bytes)
    }
}
