import Foundation
import HTTPTypes
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
            // A command is proposed only for a name that a bundle can have.
            let isCommand = { ["code", "/code"].contains($0) }
            #expect(skeleton.tags.filter { !isCommand($0) } == tags.filter { !isCommand($0) }, "\(page.name)")
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

    @Test("Every link of a page leads to a page, a file or a place on it, and what is at no path is no page")
    func routes() async throws {
        let scene = try TestScene("zz")
        for path in [
            "/apps/a/b/c", "/overview", "/overview/x", "/try/x", "/assets", "/assets/../assets/pages.css", "/nothing",
            "/%ff/a", "/apps/%zz", "/apps/%ff%fe", "/rules/%c0%af",
        ] {
            #expect(try await scene.pages.answer(path).status == 404, "\(path)")
        }
        var links: Set<String> = []
        for page in try await scene.allPages() { links.formUnion(Skeleton(page.html).links) }
        for link in links where link.hasPrefix("/") {
            let status = try await scene.pages.answer(String(link.prefix { $0 != "#" })).status
            // The database is away, and the history names a rule that is gone.
            #expect(status == 200 || status == 503 || link == "/rules/zz" && status == 404, "\(link)")
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
            let page = try await scene.page(path)
            let html = page.body
            #expect(page.status == 200)
            #expect(html.contains(since), "\(path)")
            #expect(html.contains("The database is away. It last answered at <time"), "\(path)")
        }
        let overview = try await scene.html([])
        #expect(overview.contains("href=\"/rules/a\""), "the enabled lockout")
        #expect(overview.contains("1 lockout is enabled."), "what it is now only the database knows")
        #expect(overview.contains("To stop lockouts without the database") && overview.contains("versiongate brake on"))
        #expect(!overview.contains("app pause"), "which needs the database")
        #expect(try await !scene.html(["rules", "a"]).contains("<dt>Status</dt>"))
        #expect(try await scene.page(["history"]).status == 503)
        #expect(try await scene.page(["apps", "com.example.doto", "versions.csv"]).status == 503)
        let answer = try await scene.page(
            ["try"],
            [("bundle", "com.example.doto"), ("version", "1.0"), ("platform", "ios")]
        )
        #expect(answer.status == 200)
        let tried = answer.body
        #expect(tried.contains("The database is away. It last answered at <time") && tried.contains(since))
    }

    @Test("A server without a policy does not say that no lockout is in force")
    func noPolicy() async throws {
        let page = try await PolicyPages.away(ServerFacts()).html(at: "/")
        #expect(page.contains("Which lockouts are in force is not known.") && page.contains("has no policy yet"))
    }

    @Test("What is unknown tells a pre-release of a release from other versions that are no release")
    func preReleases() async throws {
        let page = try #require(try await TestScene("zz").allPages().first { $0.name == "whole page" })
        let sections = page.html.components(separatedBy: "<section ")
        let (preReleases, others) = (
            sections.filter { $0.contains("id=\"prereleases\"") }, sections.filter { $0.contains("id=\"unreleased\"") }
        )
        #expect(preReleases.count == 1 && preReleases[0].contains("1.2-qa") && !preReleases[0].contains("9.9"))
        #expect(others.count == 1 && others[0].contains("9.9") && !others[0].contains("1.2-qa"))
    }

    @Test("Below the picture of a message stand its hints and its link, a sentence each")
    func hintsAndLink() async throws {
        let rule = Rule(key: "k", title: "T", text: "X") {
            $0.shows = 1
            $0.link = "https://example.com/"
        }
        let html = try await PolicyPages.away(rules: [rule]).html(at: "/try?bundle=a&version=1&platform=ios")
        #expect(html.contains(">k</a>. Shown once. Leads to https://example.com/</p>"))
    }

    @Test("A list of more than five unknown names is folded", arguments: [5, 6])
    func foldedUnknowns(count: Int) async throws {
        var facts = ServerFacts()
        facts.unknownBundles = (1...count).map { (name: "com.example.n\($0)", checks: 12, error: 2) }
        facts.unknownLanguages = facts.unknownBundles
        let html = try await PolicyPages.away(facts).html(at: "/unknowns")
        for list in ["bundles", "languages"] {
            let fold = "<details id=\"all-\(list)\"><summary>Show \(count) \(list)</summary>"
            #expect(html.contains(fold) == (count > 5))
        }
    }

    @Test(
        "The page of an app says that more rules are not shown where there are more, and not of the last one",
        arguments: [200, 201]
    )
    func moreRules(count: Int) async throws {
        let rules = (1...count).map { Rule(key: "k\($0)", title: "T", text: "X") { $0.bundle = "a" } }
        let pages = try PolicyPages.away(rules: rules)
        #expect(try await pages.html(at: "/apps/a").contains("Only the first 200 are shown") == (count > 200))
    }

    @Test("The page of a rule says that it is held, and prints what lets it go on, and what holds it")
    func holds() async throws {
        for isHeld in [false, true] {
            let scene = try TestScene("com.example.doto", heldAt: isHeld ? TestScene.now : nil)
            let html = try await scene.html(["rules", "d"])
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
        let html = try await scene.html(
            ["try"],
            [("bundle", "com.example.doto"), ("version", "1.0"), ("platform", "ios"), ("attributes", "vip=1")]
        )
        #expect(html.contains("{&quot;messages&quot;:[{&quot;id&quot;:&quot;b&quot;"))
        #expect(html.contains("<td>attributes.xcom.example.doto</td>"))
        #expect(html.contains("part of the installs"))
        #expect(html.contains("c is sent to 12.5 % of the installs"))
        #expect(html.contains("versiongate check --explain bundle=com.example.doto version=1.0 platform=ios vip=1"))
        #expect(html.contains("1 message, no lockout."))
        let asked = try await scene.html(["try"], [("bundle", "com.example.doto"), ("manual", "true")])
        #expect(asked.contains("name=\"manual\" value=\"true\" checked"), "\(asked)")
        #expect(asked.contains("versiongate check --explain bundle=com.example.doto manual=true"))
        #expect(asked.contains("&quot;manual&quot;: true}"))
        let words = try await scene.html(["try"], [("bundle", "com.example.doto"), ("at", "2026-01-01 10:00")])
        #expect(words.contains("This is the answer of today&apos;s policy at that time."), "\(words)")
        #expect(words.contains("versiongate check --explain --at 2026-01-01T10:00:00Z bundle=com.example.doto"))
        let away = try await scene.html(["try"], [("bundle", "com.example.doto"), ("as-of", "2026-01-01 10:00")])
        #expect(away.contains("The policy of 2026-01-01 10:00 cannot be read; the notice above says why."), "\(away)")
        #expect(away.contains("versiongate check --explain --as-of 2026-01-01T10:00:00Z bundle=com.example.doto"))
        #expect(!away.contains("explain_check("), "SQL has the present policy alone")
    }

    @Test("An install id is in no field and no answer of a try, and one in the address is left out")
    func leavesInstallsOut() async throws {
        let scene = try TestScene("com.example.doto")
        let query = [("bundle", "com.example.doto"), ("install", "secret-id"), ("attributes", "install=secret-id")]
        let page = try await scene.page(["try"], query)
        let html = page.body
        #expect(page.status == 200)
        #expect(html.contains("The address has an install id"))
        #expect(!html.contains("secret-id"))
        #expect(!html.contains("name=\"install\""), "no field asks for one")
    }

    @Test(
        "An address that cannot be read is told what may stand there",
        arguments: [
            (path: "/try", query: "bundle=%zz", text: "Failed to percent decode"),
            (path: "/try", query: "bundle=%", text: "Failed to percent decode"),
            (path: "/try", query: "bundle=%ff", text: "of bundle; it must be UTF-8."),
            (path: "/try", query: "bundle=a&version=1%c0%af", text: "of version; it must be UTF-8."),
            (path: "/history", query: "search=%ED%A0%80", text: "of search; it must be UTF-8."),
            (path: "/try", query: "bundle=a&revision=9223372036854775808", text: "must be a whole number"),
            (path: "/try", query: "bundle=a&revision=-1", text: "must be a whole number"),
            (path: "/try", query: "bundle=a&at=noon", text: "cannot be read; write it as"),
            (path: "/try", query: "bundle=a&as-of=noon", text: "cannot be read; write it as"),
            (path: "/try", query: "bundle=a&as-of=2026-01-01&at=2026-01-01", text: "leave at and revision out"),
            (path: "/try", query: "bundle=a&as-of=2026-01-01&revision=1", text: "leave at and revision out"),
            (path: "/try", query: "bundle=a&channel=b", text: "write other members as lines of attributes"),
            (path: "/try", query: "bundle=a&bundle=b", text: "Found duplicate keys"),
            (path: "/history", query: "before=x", text: "must be the number of a change"),
            (path: "/history", query: "before=-1", text: "must be the number of a change"),
            (path: "/history", query: "before=%D9%A1", text: "must be the number of a change"),
            (path: "/history", query: "before=99999999999999999999", text: "must be the number of a change"),
            (path: "/apps/zz", query: "days=8", text: "it may be 1, 7, 30, 90, 365"),
            (path: "/history", query: "since=noon", text: "write it as 2026-11-22 14:05"),
        ]
    )
    func explainsAddresses(path: String, query: String, text: String) async throws {
        let response = try await TestScene("zz").pages.answer("\(path)?\(query)")
        let body = response.body
        #expect(response.status == 400)
        #expect(body.contains(text))
        #expect(!query.hasSuffix("at=noon") || !body.contains("explain_check"), "it may refuse the time")
    }

    @Test("A name is read as it is in the address, also with a byte order mark before it")
    func byteOrderMark() async throws {
        let scene = try TestScene("zz", bundle: "\u{FEFF}x")
        #expect(try await scene.page(["apps", "\u{FEFF}x"]).status == 200)
        #expect(try await scene.page(["apps", "x"]).status == 404)
        let form = try await scene.html(["try"], [("bundle", "\u{FEFF}x")])
        #expect(form.contains("bundle=\\u{feff}x"), "\(form)")
    }

    @Test("Assets have a tag by which a browser keeps them, and pages are kept nowhere")
    func assets() async throws {
        let scene = try TestScene("zz")
        for (name, type) in [("pages.css", "text/css"), ("charts.css", "text/css"), ("pages.js", "text/javascript")] {
            let asset = try await scene.page(["assets", name])
            #expect(asset.status == 200)
            #expect(asset.fields[.contentType]?.hasPrefix(type) == true)
            let tag = try #require(asset.fields[.eTag])
            let again = try await scene.pages.answer("/assets/\(name)", knownTag: tag)
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
        }
        for name in ["nothing", "../pages.css", "../../../etc/passwd", ""] {
            #expect(try await scene.page(["assets", name]).status == 404, "\(name)")
        }
        #expect(try await scene.page([]).fields[.cacheControl] == "no-store")
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
        let waiting = (0...PolicyPages.mostWaiting).map { number in
            Task { try await pages.answer("/history?before=\(number + 1)") }
        }
        while pages.load < waiting.count { await Task.yield() }
        let refused = try await pages.answer("/")
        #expect(refused.status == 503)
        #expect(refused.fields[.retryAfter] == "5")
        #expect(try await pages.answer("/assets/pages.css").status == 200)
        end.finish()
        for page in waiting {
            let body = try await page.value.body
            #expect(body.contains("The database is away."))
            #expect(body.contains("it is over"))
        }
        #expect(try await pages.answer("/").status == 200)
    }
}
