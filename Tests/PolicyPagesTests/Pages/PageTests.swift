import Foundation
import Logging
import Postgres
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyPages

@Suite("Pages")
struct PageTests {
    private static let plainTags = Task {
        // No language either, as none of the texts is.
        try await TestScene("zzzz").allPages().map { Skeleton($0.html).tags }
    }

    @Test("No text makes an element, an attribute or a link of a page", arguments: HostileTexts.all)
    func escapes(text: String) async throws {
        let pages = try await TestScene(text).allPages()
        let plain = try await Self.plainTags.value
        #expect(pages.count == plain.count)
        for (page, tags) in zip(pages, plain) {
            let skeleton = Skeleton(page.html)
            #expect(skeleton.tags.count > 15, "\(page.name) is a page")
            #expect(skeleton.tags == tags, "\(page.name)")
            for link in skeleton.links {
                let isOurs = link.hasPrefix("/") && !link.hasPrefix("//") || link.hasPrefix("#")
                #expect(isOurs || link.hasPrefix("https://example.com/"), "\(page.name): \(link)")
            }
            let controls = page.html.unicodeScalars.filter { $0 != "\n" && $0.steersTerminal }
            #expect(controls.isEmpty, "\(page.name)")
        }
    }

    @Test("A quotation mark with a combining character behind it ends no attribute")
    func escapesScalars() {
        #expect(PageText().escapeText("\"\u{301}<\u{338}") == "&quot;\u{301}&lt;\u{338}")
        #expect(PageText().escapeText("a\u{202E}b\nc") == "a\\u{202e}b\nc")
    }

    @Test("Templates show nothing that is not escaped, and use no partial that is not there")
    func templates() {
        let names = Set(embeddedTemplates.map { String($0.name.prefix { $0 != "." }) })
        for (name, text) in embeddedTemplates {
            #expect(!text.contains(#/\{\{\{|\{\{&/#), "\(name)")
            for partial in text.matches(of: #/\{\{[<>](\w+)\}\}/#).map({ String($0.output.1) }) {
                #expect(names.contains(partial), "\(name) uses \(partial)")
            }
        }
    }

    @Test("A path leads to what its route says, and every link of a page to a page, a file or a place on it")
    func routes() async throws {
        let routes: [PageRoute] = [
            .overview, .app("a/b c"), .rule("ä%2F"), .attempt, .history, .unknowns, .asset("pages.css"),
            .chart("lockouts", of: .allApps), .chart("versions", of: .app("a.csv")), .chart("reach", of: .rule("k")),
        ]
        for route in routes { #expect(PageRoute(path: route.path) == route) }
        for path in [
            "/apps", "/apps/a/b", "/overview", "/overview/x", "/try/x", "/assets", "/assets/../assets/pages.css",
        ] {
            #expect(PageRoute(path: path) == .nothing, "\(path)")
        }
        for path in ["/live", "/nothing", "/%ff/a", "/index.html"] { #expect(PageRoute(path: path) == nil, "\(path)") }
        for name in ["%zz", "%ff%fe", "%c0%af"] {
            #expect(PageRoute(path: "/apps/\(name)") == .app("\u{FFFD}"), "\(name)")
        }
        for page in try await TestScene("zz").allPages() {
            for link in Skeleton(page.html).links where link.hasPrefix("/") {
                let route = PageRoute(path: String(link.prefix { $0 != "?" && $0 != "#" }))
                #expect(route != nil && route != .nothing, "\(page.name): \(link)")
            }
        }
    }

    private var embeddedTemplates: [(name: String, text: String)] {
        embeddedFiles.filter { $0.name.hasSuffix(".mustache") }
    }

    @Test("Every page names the database and the revision, edits nothing, and has its style and its script in files")
    func frame() async throws {
        for page in try await TestScene("zz").allPages() {
            #expect(page.html.contains("<dd id=\"database\">"), "\(page.name)")
            #expect(page.html.contains("<span id=\"revision\">41</span>"), "\(page.name)")
            #expect(!page.html.contains("method=\"post\""), "\(page.name)")
            let tags = Skeleton(page.html).tags
            #expect(!tags.contains { $0 == "style" || $0.contains(" style") || $0.contains(" on") }, "\(page.name)")
            #expect(tags.filter { $0.hasPrefix("script") } == ["script src defer"], "\(page.name)")
        }
    }

    @Test("With the database away each page says since when, and shows what the policy in memory knows")
    func databaseAway() async throws {
        let scene = try TestScene("com.example.doto")
        let since = NumberText.minute(TestScene.now.advanced(byMicroseconds: -90_000_000))
        for path in [[], ["apps", "com.example.doto"], ["rules", "a"], ["unknowns"]] {
            let page = await scene.page(path)
            let html = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == 200)
            #expect(html.contains("The database is away. It last answered at \(since)."), "\(path)")
        }
        let overview = await scene.html([])
        #expect(overview.contains("href=\"/rules/a\""), "the enabled lockout")
        #expect(overview.contains("1 lockout is enabled."), "what it is now only the database knows")
        #expect(overview.contains("To stop lockouts without the database") && overview.contains("versiongate brake on"))
        #expect(!overview.contains("app pause"), "which needs the database")
        #expect(await !scene.html(["rules", "a"]).contains("<dt>Status</dt>"))
        #expect(await scene.page(["history"]).status == 503)
        #expect(await scene.page(["apps", "com.example.doto", "versions.csv"]).status == 503)
        let answer = await scene.page(
            ["try"],
            [("bundle", "com.example.doto"), ("version", "1.0"), ("platform", "ios")]
        )
        #expect(answer.status == 200)
        let tried = String(decoding: answer.body, as: UTF8.self)
        #expect(tried.contains("The database is away. It last answered at \(since)."))
    }

    @Test("What is unknown tells a pre-release of a release from other versions that are no release")
    func preReleases() async throws {
        let page = try #require(try await TestScene("zz").allPages().first { $0.name == "whole unknowns" })
        let sections = page.html.components(separatedBy: "<section ")
        let (preReleases, others) = (
            sections.filter { $0.contains("id=\"prereleases\"") }, sections.filter { $0.contains("id=\"unreleased\"") }
        )
        #expect(preReleases.count == 1 && preReleases[0].contains("1.2-qa") && !preReleases[0].contains("9.9"))
        #expect(others.count == 1 && others[0].contains("9.9") && !others[0].contains("1.2-qa"))
    }

    @Test(
        "The page of an app says that more rules are not shown where there are more, and not of the last one",
        arguments: [200, 201]
    )
    func moreRules(count: Int) throws {
        var facts = ServerFacts()
        facts.policy = try CompiledPolicy(
            Policy(
                revision: 1, token: "token", apps: [App(bundle: "a")], releases: [],
                rules: (1...count).map { Rule(key: "k\($0)", bundle: "a", title: "T", text: "X") }
            )
        )
        let scene = PageScene(facts: facts, now: TestScene.now)
        let page = try AppPage("a", PagePeriod([]), scene).response(nil, scene)
        #expect(String(decoding: page.body, as: UTF8.self).contains("Only the first 200 are shown") == (count > 200))
    }

    @Test("The page of a rule says that it is held, and prints what lets it go on, and what holds it")
    func holds() async throws {
        for isHeld in [false, true] {
            let scene = try TestScene("com.example.doto", heldAt: isHeld ? TestScene.now : nil)
            let html = await scene.html(["rules", "d"])
            #expect(html.contains(", held there since ") == isHeld)
            #expect(html.contains("rule resume d") == isHeld)
            #expect(html.contains("SELECT * FROM resume_rule(&apos;d&apos;);") == isHeld)
            #expect(html.contains("rule hold d") != isHeld)
            #expect(html.contains("SELECT hold_rule(&apos;d&apos;);") != isHeld)
        }
    }

    @Test("A check that is tried is answered and explained, and a rollout tells which part of the installs it reaches")
    func tries() async throws {
        let scene = try TestScene("com.example.doto")
        let html = await scene.html(
            ["try"],
            [("bundle", "com.example.doto"), ("version", "1.0"), ("platform", "ios"), ("attributes", "vip=1")]
        )
        #expect(html.contains("{&quot;messages&quot;:[{&quot;id&quot;:&quot;b&quot;"))
        #expect(html.contains("<td>attributes.xcom.example.doto</td>"))
        #expect(html.contains("part of the installs"))
        #expect(html.contains("c is sent to 12.5 % of the installs"))
        #expect(html.contains("versiongate check --explain bundle=com.example.doto version=1.0 platform=ios vip=1"))
        #expect(html.contains("1 message, no lockout."))
        let words = await scene.html(["try"], [("bundle", "com.example.doto"), ("at", "2026-01-01 10:00")])
        #expect(words.contains("Today&apos;s policy answers, with the clock of then."), "\(words)")
        #expect(words.contains("versiongate check --explain --at 2026-01-01T10:00:00Z bundle=com.example.doto"))
        let away = await scene.html(["try"], [("bundle", "com.example.doto"), ("as-of", "2026-01-01 10:00")])
        #expect(away.contains("The policy of 2026-01-01 10:00 cannot be read; the notice above says why."), "\(away)")
        #expect(away.contains("versiongate check --explain --as-of 2026-01-01T10:00:00Z bundle=com.example.doto"))
        #expect(!away.contains("explain_check("), "SQL has the present policy alone")
    }

    @Test("An install id is in no field and no answer of a try, and one in the address is left out")
    func leavesInstallsOut() async throws {
        let scene = try TestScene("com.example.doto")
        let query = [("bundle", "com.example.doto"), ("install", "secret-id"), ("attributes", "install=secret-id")]
        let page = await scene.page(["try"], query)
        let html = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 200)
        #expect(html.contains("The address has an install id"))
        #expect(!html.contains("secret-id"))
        #expect(!html.contains("name=\"install\""), "no field asks for one")
    }

    @Test(
        "An address that cannot be read is told what may stand there",
        arguments: [
            (path: "/try", query: "bundle=%zz", text: "not encoded"),
            (path: "/try", query: "bundle=%ff", text: "not encoded"),
            (path: "/try", query: "bundle=%", text: "not encoded"),
            (path: "/try", query: "bundle=a&revision=9223372036854775808", text: "must be a whole number"),
            (path: "/try", query: "bundle=a&revision=-1", text: "must be a whole number"),
            (path: "/try", query: "bundle=a&at=noon", text: "cannot be read; write it as"),
            (path: "/try", query: "bundle=a&as-of=noon", text: "cannot be read; write it as"),
            (path: "/try", query: "bundle=a&as-of=2026-01-01&at=2026-01-01", text: "leave at and revision out"),
            (path: "/try", query: "bundle=a&as-of=2026-01-01&revision=1", text: "leave at and revision out"),
            (path: "/try", query: "bundle=a&channel=b", text: "write other members as lines of attributes"),
            (path: "/try", query: "bundle=a&bundle=b", text: "is there twice"),
            (path: "/history", query: "before=x", text: "must be the number of a change"),
            (path: "/history", query: "before=-1", text: "must be the number of a change"),
            (path: "/history", query: "before=%D9%A1", text: "must be the number of a change"),
            (path: "/history", query: "before=99999999999999999999", text: "must be the number of a change"),
            (path: "/apps/zz", query: "days=8", text: "it may be 1, 7, 30, 90, 365"),
            (path: "/try", query: String(repeating: "a&", count: 101), text: "more than 100 members"),
        ]
    )
    func explainsAddresses(path: String, query: String, text: String) async throws {
        let response = try await TestScene("zz").pages.respond(
            to: PageRequest(#require(PageRoute(path: path)), query: query)
        )
        let body = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 400)
        #expect(body.contains(text))
        #expect(!query.hasSuffix("at=noon") || !body.contains("explain_check"), "it may refuse the time")
    }

    @Test("Assets have a tag by which a browser keeps them, and pages are kept nowhere")
    func assets() async throws {
        let scene = try TestScene("zz")
        for (name, type) in [("pages.css", "text/css"), ("charts.css", "text/css"), ("pages.js", "text/javascript")] {
            let asset = await scene.page(["assets", name])
            #expect(asset.status == 200)
            #expect(asset.contentType?.hasPrefix(type) == true)
            let tag = try #require(asset.fields.first { $0.name == "ETag" }?.value)
            let again = await scene.pages.respond(to: PageRequest(.asset(name), query: "", knownTag: tag))
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
        for name in ["nothing", "../pages.css", "../../../etc/passwd", ""] {
            #expect(await scene.page(["assets", name]).status == 404, "\(name)")
        }
        #expect(await scene.page([]).fields.contains { $0 == ("Cache-Control", "no-store") })
    }

    @Test("So many may wait for the page that is made, and one more is told to come again")
    func busy() async throws {
        var facts = try TestScene("zz").facts
        facts.databaseIsReachable = true
        let (mayEnd, end) = AsyncStream.makeStream(of: Never.self)
        let pages = PolicyPages(
            facts: { [facts] in facts },
            database: {
                for await _ in mayEnd {}
                throw PostgresError(.connectionFailed, "it is over")
            },
            clock: { TestScene.now },
            logger: Logger(label: "test")
        )
        // Each of these is counted before the next begins.
        let waiting = (0...PolicyPages.mostWaiting).map { number in
            Task.immediate { await pages.respond(to: PageRequest(.history, query: "before=\(number + 1)")) }
        }
        let refused = await pages.respond(to: PageRequest(.overview, query: ""))
        #expect(refused.status == 503)
        #expect(refused.fields.contains { $0 == ("Retry-After", "5") })
        #expect(await pages.respond(to: PageRequest(.asset("pages.css"), query: "")).status == 200)
        end.finish()
        for page in waiting {
            let body = String(decoding: await page.value.body, as: UTF8.self)
            #expect(body.contains("The database is away."))
            #expect(body.contains("it is over"))
        }
        #expect(await pages.respond(to: PageRequest(.overview, query: "")).status == 200)
    }
}
