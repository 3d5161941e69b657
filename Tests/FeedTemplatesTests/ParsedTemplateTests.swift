import Foundation
import TestPolicies
import TestRandom
import TestSystem
import Testing
import UpdateFeeds

@testable import FeedTemplates
@testable import UpdatePolicy

@Suite("Feed templates")
struct FeedDocumentTests {
    private static let awkward = "\u{301}\"\\ & <a> ]]> 'x' {{floor}}\n\u{1F600}\u{200F}é"

    private static let messages = [
        Message(id: "a", title: "A", text: awkward, link: "https://a.example", lockout: true),
        Message(id: "b", title: "B", text: "x"),
    ]

    private static func values(name: String = awkward, messages: [Message] = messages) -> FeedValues {
        FeedValues(members: [
            "bundle": .text("com.example.doto"), "name": .text(name),
            "store_link": .text("https://example.com/?a=1&b=2"),
            "prompt": .text("1.3"), "floor": .text("1.2"), "revision": .text("7"),
            "latest": .object([
                "version": .text("1.4"), "build": .text("42"), "live_at": .text("2026-03-01T12:00:00Z"),
                "notes": .text(awkward),
            ]),
            "messages": .list(messages.map(FeedValues.members)),
        ])
    }

    private static func render(
        _ body: String,
        _ values: FeedValues = values(),
        as contentType: String = "text/plain"
    ) throws -> String? {
        try ParsedTemplate(FeedTemplate(name: "n", contentType: contentType, body: body)).render(values)
    }

    @Test(
        "A template writes values, sections and their opposites",
        arguments: [
            ("{{floor}} {{ prompt }}", "1.2 1.3"),
            ("{{latest.version}} ({{latest.build}}) {{latest.live_at}}", "1.4 (42) 2026-03-01T12:00:00Z"),
            ("{{#latest}}{{version}} of {{bundle}}{{/latest}}", "1.4 of com.example.doto"),
            ("{{latest.min_os}}|{{^latest.min_os}}any{{/latest.min_os}}", "|any"),
            ("{{#floor}}>={{.}}{{/floor}}", ">=1.2"),
            ("{{#messages}}{{id}}{{#lockout}}!{{/lockout}}{{^lockout}}?{{/lockout}} {{/messages}}", "a! b? "),
            ("[{{#messages}}\"{{id}}\"{{^last()}},{{/last()}}{{/messages}}]", "[\"a\",\"b\"]"),
            (
                "{{#messages}}{{#lockout}}{{#first()}}1{{/first()}}{{/lockout}}{{link}};{{/messages}}",
                "1https://a.example;;"
            ),
            ("a{{! {{ a comment }}b", "ab"),
            ("{{#messages}}\n{{id}}\n{{/messages}}\nr{{revision}}", "a\nb\nr7"),
            ("\n  {{floor}}", "\n  1.2"),
            ("x {", "x {"), ("{ {{floor}} }}", "{ 1.2 }}"),
            // A section, its end and a comment leave no line behind that they are alone on.
            ("a\r\n  {{#floor}}\t\r\n b\r\n{{/floor}}\r\nc", "a\r\n b\r\nc"),
            ("{{! c }}\n a {{! c }}\n {{#floor}} b {{/floor}}\n", " a \n  b \n"),
            ("a\n  {{! c }}", "a\n"), ("{{#floor}}\nb{{/floor}} c\n", "b c\n"),
            ("{{^messages}}no{{/messages}}{{^latest.min_os}}{{#floor}}{{prompt}}{{/floor}}{{/latest.min_os}}", "1.3"),
        ]
    )
    func writes(_ body: String, _ document: String) throws { #expect(try Self.render(body) == document) }

    @Test("A template of JSON makes JSON, and one of XML makes XML, whatever is in the texts")
    func escapes() throws {
        let json = try #require(
            try Self.render(
                #"{"name": "{{name}}", "notes": "{{latest.notes}}", "floor": "{{floor}}", "forced": [{{#messages}}{{lockout}}{{^last()}}, {{/last()}}{{/messages}}]}"#,
                as: "application/json"
            )
        )
        struct Document: Decodable {
            let name: String
            let notes: String
            let floor: String
            let forced: [Bool]
        }
        let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        #expect(Array(document.name.utf8) == Array(Self.awkward.utf8))
        #expect(Array(document.notes.utf8) == Array(Self.awkward.utf8))
        #expect(document.floor == "1.2")
        #expect(document.forced == [true, false])

        for type in ["application/xml", "text/xml", "application/rss+xml", "application/x-plist"] {
            let xml = try #require(
                try Self.render(
                    "<plist version=\"1.0\"><dict><key>a</key><string>{{latest.notes}}</string></dict></plist>",
                    as: type
                )
            )
            let plist = try PropertyListSerialization.propertyList(from: Data(xml.utf8), format: nil)
            let text = try #require((plist as? [String: String])?["a"])
            #expect(Array(text.utf8) == Array(Self.awkward.utf8))
        }
        #expect(try Self.render("{{name}}") == Self.awkward)
    }

    /// Templates that are refused: the place of the fault, and a part of what is said and of what to write.
    static let refused: [(body: String, line: Int, column: Int, message: String, hint: String)] = [
        ("a\n {{flor}}", 2, 2, "there is no value \"flor\"", "Did you mean floor? The values here are bundle,"),
        ("{{latest.notez}}", 1, 1, "there is no value \"latest.notez\"", "In latest there are build, live_at,"),
        ("{{floor.x}}", 1, 1, "there is no value \"floor.x\"", "floor is one value"),
        ("{{title}}", 1, 1, "there is no value \"title\"", "messages"),
        ("{{messages.title}}", 1, 1, "there is no value \"messages.title\"", "{{#messages}}...{{/messages}}"),
        ("{{messages}}", 1, 1, "messages is a list", "in it {{id}}, {{link}}"),
        ("{{latest}}", 1, 1, "latest is not one value", "{{latest.build}}"),
        ("{{}}", 1, 1, "a tag without a name", "The values here are"),
        ("{{upper(name)}}", 1, 1, "there is no value \"upper(name)\"", "The values here are"),
        ("{{ #latest}}{{/latest}}", 1, 1, "there is no value \"#latest\"", "The values here are"),
        ("{{.}}", 1, 1, "{{.}} where there is no text", "{{#floor}}...{{/floor}}"),
        ("{{^messages}}{{.}}{{/messages}}", 1, 14, "{{.}} where there is no text", "{{#floor}}"),
        ("{{{name}}}", 1, 1, "a value that is not escaped", "{ {{name}} }"),
        ("{\"a\":{{{name}}}}", 1, 6, "a value that is not escaped", "put a space after it"),
        ("{{& name}}", 1, 1, "a value that is not escaped", "Leave the & out"),
        ("{{> header}}", 1, 1, "a part of another template", "Write the text of it here"),
        ("{{>*header}}", 1, 1, "a part of another template", "Write the text of it here"),
        ("{{<base}}{{$a}}{{/a}}{{/base}}", 1, 1, "a part of another template", "Write the text"),
        ("{{$block}}x{{/block}}", 1, 1, "a part of another template", "Write the text"),
        ("{{=<% %>=}}<%name%>", 1, 1, "other delimiters", "Write tags with {{ and }}."),
        ("{{% CONTENT_TYPE: HTML}}", 1, 1, "a setting of the parser", "Take it out"),
        ("{{#latest}}", 1, 1, "the section latest is not closed", "Write {{/latest}} where it ends."),
        ("{{/latest}}", 1, 1, "{{/latest}} closes nothing", "{{#latest}}"),
        ("{{#latest}}{{#floor}}{{/latest}}{{/floor}}", 1, 22, "{{/latest}} where floor is to be closed", "{{/floor}}"),
        ("{{#messages}}\n{{#messages}}{{/messages}}{{/messages}}", 2, 1, "messages in itself", "Close {{#messages}}"),
        ("{{#last()}},{{/last()}}", 1, 1, "last() outside of a list", "{{#messages}}"),
        ("{{#messages}}{{#title}}{{^last()}},{{/last()}}{{/title}}{{/messages}}", 1, 24, "last() outside", "directly"),
        ("{{floor", 1, 1, "a tag that is not closed", "Write }} behind it"),
        ("a {{floor}", 1, 3, "a tag that is not closed", "Write }} behind it"),
    ]

    @Test("A template is refused with the place of its fault and what to write", arguments: refused.indices)
    func refuses(_ index: Int) {
        let expected = Self.refused[index]
        let fault = #expect(throws: FeedTemplateFault.self) { try Self.render(expected.body) }
        #expect(fault.map { [$0.line, $0.column] } == [expected.line, expected.column], "\(expected.body)")
        #expect(fault?.message.contains(expected.message) == true, "\(fault?.message ?? "")")
        #expect(fault?.hint.contains(expected.hint) == true, "\(fault?.hint ?? "")")
        #expect(fault?.description(file: "f").hasPrefix("f:\(expected.line):\(expected.column): ") == true)
    }

    @Test("A template with sections in each other is refused beyond 16, however many there are")
    func refusesDepth() throws {
        let nested = { (depth: Int) in
            String(repeating: "{{#floor}}", count: depth) + "x" + String(repeating: "{{/floor}}", count: depth)
        }
        #expect(try Self.render(nested(16)) == "x")
        let fault = #expect(throws: FeedTemplateFault.self) { try Self.render(nested(3_000)) }
        #expect(fault?.message == "more than 16 sections in each other")
    }

    @Test("A template is checked by the names of everything that a policy can say")
    func names() throws {
        func names(_ members: [String: TemplateValue]) -> Set<String> {
            members.reduce(into: []) { all, member in
                all.insert(member.key)
                all.formUnion(names(member.value.members).map { "\(member.key).\($0)" })
            }
        }
        let app = App(bundle: TestPolicy.bundle) {
            $0.storeLinks = [StoreLink(platform: "ios", link: "https://a.example")]
        }
        let release = TestPolicy.release("1.2") {
            ($0.build, $0.minOS, $0.notes) = ("42", "15", [ReleaseNote(text: "new")])
        }
        let rules = [
            TestPolicy.rule("all") { $0.link = "https://b.example" },
            TestPolicy.rule("old") { ($0.target, $0.lockout) = ("1.2", true) },
        ]
        let policy = try TestPolicy.policy(rules, releases: [release], apps: [app])
        let query = [(name: "platform", value: "ios"), (name: "os", value: "17")]
        let question = FeedQuestion(format: nil, bundle: TestPolicy.bundle, query: query)
        let template = try ParsedTemplate(
            FeedTemplate(name: "n", contentType: "text/plain", body: "{{#messages}}{{/messages}}"))
        let values = try #require(FeedValues(answering: question, by: policy, at: TestPolicy.noon, for: template))
        #expect(names(values.members) == names(FeedValues.shape))
    }

    /// The document of a template for an app with so many messages of 16 kB.
    private static func document(_ body: String, messages: Int) throws -> String? {
        let rules = (0..<messages).map { number in
            TestPolicy.rule("r\(number)") { $0.text = String(repeating: "a<{&}\"bcdefgh012", count: 1_000) }
        }
        let policy = try TestPolicy.policy(rules, releases: [])
        let question = FeedQuestion(format: nil, bundle: TestPolicy.bundle)
        let template = try ParsedTemplate(FeedTemplate(name: "n", contentType: "application/xml", body: body))
        return FeedValues(answering: question, by: policy, at: TestPolicy.noon, for: template).flatMap(template.render)
    }

    @Test(
        "Messages that a template does not show cost nothing, and those that it may show have no more than 1 MiB",
        .whole
    )
    func longMessages() throws {
        #expect(try Self.document("{{bundle}}", messages: 300) == TestPolicy.bundle)
        #expect(try Self.document("{{#messages}}.{{/messages}}", messages: 60) == String(repeating: ".", count: 60))
        #expect(try Self.document("{{#messages}}.{{/messages}}", messages: 70) == nil)
        #expect(try Self.document("{{#floor}}{{^messages}}{{/messages}}{{/floor}}", messages: 70) == nil)
    }

    @Test("A document has no more than 1 MiB, and one that would have is not begun")
    func isBounded() throws {
        let messages = (0..<1_000).map { Message(id: "k\($0)", title: "T", text: "x") }
        let values = Self.values(name: String(repeating: "\"", count: 4_000), messages: messages)
        let literal = String(repeating: "x", count: 1_024)
        #expect(try Self.render("{{#messages}}\(literal){{/messages}}", values)?.utf8.count == 1_024_000)
        #expect(try Self.render("{{#messages}}\(literal)\(literal){{/messages}}", values) == nil)
        let names = String(repeating: "{{name}}", count: 200)
        #expect(try Self.render(names, values)?.utf8.count == 800_000)
        #expect(try Self.render(names, values, as: "application/json") == nil)
        #expect(try Self.render("{{#messages}}\(names){{/messages}}", values) == nil)
        // No message has a link, so this is an empty document, but one that takes long.
        let links = String(repeating: "{{link}}", count: 1_000)
        #expect(try Self.render("{{#messages}}{{link}}{{/messages}}", values) == "")
        #expect(try Self.render("{{#messages}}\(links){{/messages}}", values) == nil)
    }
}
