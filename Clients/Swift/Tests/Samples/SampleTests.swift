import Foundation
import UIKit
import VersionGateClient

/// What the samples do on stand-ins of UIKit.
@main
@MainActor
struct SampleTests {
    static func main() async throws {
        try await messages()
        try await buttons()
        try await attributesFirst()
        try await lockout()
        try await lockoutThatIsNotKept()
        try await severalScenes()
        print("The samples do what they say.")
    }

    private static func expect(_ condition: Bool, _ what: String, line: Int = #line) {
        guard !condition else { return }
        print("FAILED: line \(line): \(what)")
        exit(1)
    }

    // MARK: An app on a device

    private static let news = #"{"id":"news","title":"News","text":"Lists.","remind":60,"skip":true}"#
    private static let tip = #"{"id":"tip","title":"Tip","text":"Swipe.","link":"https://example.com"}"#
    private static let store = "https://apps.apple.com/app/id987654321"
    private static let update = #"{"id":"u","title":"Please update","text":"1.2 is there.","link":"\#(store)"}"#
    private static let blocked = #"{"id":"b","title":"Stop","text":"T","link":"\#(store)","lockout":true}"#

    /// Answers with what the test says, and says when a check is over.
    private final class Server: GateTransport, @unchecked Sendable {
        private let lock = NSLock()
        private var messages: [String]?
        private var over = 0
        private var bodies: [String] = []
        /// How many checks are over.
        var checks: Int { lock.withLock { over } }
        var questions: [String] { lock.withLock { bodies } }
        func checkIsOver() { lock.withLock { over += 1 } }
        init(_ messages: [String]?) { self.messages = messages }
        func answer(_ messages: [String]?) { lock.withLock { self.messages = messages } }
        func response(to request: GateRequest) throws -> GateResponse {
            lock.withLock { bodies.append(String(decoding: request.body, as: UTF8.self)) }
            guard let messages = lock.withLock({ messages }) else { throw URLError(.notConnectedToInternet) }
            let body = Data(#"{"messages":[\#(messages.joined(separator: ","))]}"#.utf8)
            return GateResponse(status: 200, body: body)
        }
    }

    @MainActor
    private struct App {
        let server: Server
        let storage: MemoryStorage
        let screens: GateScreens
        let scene: UIWindowScene
        let window: UIWindow

        /// The app comes to the foreground, and asks.
        func activate() {
            NotificationCenter.default.post(name: UIScene.didActivateNotification, object: scene)
        }

        /// The titles of the alerts on the screen.
        var alerts: [String] { dialogs.compactMap(\.title) }

        var dialogs: [UIAlertController] {
            scene.windows.compactMap { $0.rootViewController?.presentedViewController as? UIAlertController }
        }

        func press(_ button: String) {
            guard let action = dialogs[0].actions.first(where: { $0.title == button }) else {
                return expect(false, "there is no button \(button)")
            }
            action.handler?(action)
        }

        /// The window of the lockout.
        func cover(of scene: UIWindowScene) -> UIWindow? { scene.windows.first { $0.accessibilityViewIsModal } }

        func texts(_ view: UIView) -> [String] {
            if let label = view as? UILabel { return [label.text ?? ""] }
            if let button = view as? UIButton { return ["[\(button.title ?? "")]"] }
            return view.subviews.flatMap(texts)
        }

        var lockout: [String] { cover(of: scene)?.rootViewController.map { texts($0.view) } ?? [] }

        func tap(_ button: String) {
            func find(_ view: UIView) -> UIButton? {
                if let found = view as? UIButton, found.title == button { return found }
                return view.subviews.lazy.compactMap(find).first
            }
            guard let view = cover(of: scene)?.rootViewController?.view, let action = find(view)?.action else {
                return expect(false, "there is no button \(button)")
            }
            action.handler(action)
        }
    }

    private static func app(
        _ messages: [String],
        maximumAge: Int = 7,
        before prepare: @escaping @MainActor @Sendable (VersionGate) async -> Void = { _ in }
    ) throws -> App {
        let server = Server(messages)
        let storage = MemoryStorage()
        guard let address = URL(string: "https://gate.example.com") else { preconditionFailure("it is an address") }
        let gate = try VersionGate(
            server: address, app: AppDescription(bundle: "com.example.doto"), attributes: [:], maximumAge: maximumAge,
            storage: storage, transport: server, clock: { Date() }, observer: { _ in server.checkIsOver() },
            alarm: { _, _ in }
        )
        let scene = UIWindowScene()
        UIApplication.shared.connectedScenes = [scene]
        UIApplication.shared.opened = []
        let window = UIWindow(windowScene: scene)
        window.makeKeyAndVisible()
        let screens = GateScreens(gate: gate, before: { await prepare(gate) })
        return App(server: server, storage: storage, screens: screens, scene: scene, window: window)
    }

    private static func until(_ what: String, line: Int = #line, _ holds: @MainActor () -> Bool) async {
        let start = DispatchTime.now().uptimeNanoseconds
        while !holds() {
            expect(DispatchTime.now().uptimeNanoseconds - start < 60_000_000_000, "not in 60 s: \(what)", line: line)
            try? await Task.sleep(nanoseconds: 1_000_000)
        }
    }

    // MARK: Tests

    /// Each message is shown once, whatever the checks give meanwhile, and what the person does is recorded.
    private static func messages() async throws {
        let app = try app([news])
        app.activate()
        await until("the alert") { app.alerts == ["News"] }
        expect(app.scene.windows.last?.windowLevel ?? .normal > .alert, "the alert is below the app's own alerts")
        app.server.answer([news.replacingOccurrences(of: #""remind":60,"#, with: ""), tip, blocked])
        app.screens.check(force: true)
        await until("the lockout") { !app.lockout.isEmpty }
        expect(app.alerts == ["News"], "the alert is there once, and stays")
        app.press("Do not show again")
        expect(app.alerts == ["Tip"], "then comes the next")
        app.press("Open")
        expect(UIApplication.shared.opened.map(\.absoluteString) == ["https://example.com"], "the link")
        expect(app.alerts.isEmpty, "and that was all")
        expect(UIWindow.key === app.cover(of: app.scene), "keys go to the lockout")
        app.server.answer([])
        app.screens.check(force: true)
        await until("the end") { app.lockout.isEmpty }
    }

    /// What the buttons say, without a catalog of texts in the app: of an update as a server sends it with and without
    /// hints, and of other messages and lockouts.
    private static func buttons() async throws {
        let hinted = tip.replacingOccurrences(of: "}", with: #","remind":60,"skip":true,"target":"1.2"}"#)
        for (message, expected) in [
            (update, ["Update", "Later"]), (hinted, ["Update", "Do not show again", "Later"]),
            (tip, ["Open", "Close"]), (news, ["Do not show again", "Close"]),
        ] {
            let app = try app([message])
            app.activate()
            await until("the alert") { !app.alerts.isEmpty }
            expect(app.dialogs[0].actions.map(\.title) == expected, "the buttons of \(message)")
        }
        let app = try app([blocked.replacingOccurrences(of: store, with: "https://status.example.com")])
        app.activate()
        await until("a lockout with a page that is no update") { app.lockout.contains("[Open]") }
        app.server.answer([])
        app.tap("Try again")
        await until("the end") { app.lockout.isEmpty }
    }

    /// The first check waits for attributes that take time, but not for ever, and each check is one question.
    private static func attributesFirst() async throws {
        let (store, wait) = AsyncStream<Never>.makeStream()
        let app = try app([news]) { gate in
            for await _ in store {}
            gate.attributes["channel"] = "store"
        }
        app.activate()
        app.screens.check(force: true)
        expect(app.server.questions.isEmpty, "it asks before the attributes are there")
        wait.finish()
        await until("the alert") { app.alerts == ["News"] }
        expect(app.server.questions.count == 1, "it asks once")
        expect(app.server.questions[0].contains(#""channel":"store""#), "the channel is sent: \(app.server.questions)")

        let (never, end) = AsyncStream<Never>.makeStream()
        let other = try Self.app([news]) { _ in for await _ in never {} }
        other.activate()
        await until("the check without attributes") { other.alerts == ["News"] }
        end.finish()
    }

    /// A lockout is above all, and ends only by a check that gives none.
    private static func lockout() async throws {
        let app = try app([blocked])
        let sheet = UIWindow(windowScene: app.scene)
        sheet.makeKeyAndVisible()
        app.activate()
        let texts = ["Stop", "T", "[Update]", "[Try again]"]
        await until("the lockout") { app.lockout == texts }
        guard let cover = app.cover(of: app.scene) else { return }
        expect(cover.windowLevel > .alert && UIWindow.key === cover, "it is above all, and has the keyboard")
        let below = [app.window, sheet]
        expect(below.allSatisfy(\.accessibilityElementsHidden), "VoiceOver reads what is below")
        app.tap("Update")
        expect(UIApplication.shared.opened.map(\.absoluteString) == [store], "the link")

        app.server.answer(nil)
        let checks = app.server.checks
        app.tap("Try again")
        await until("the check that fails") { app.server.checks > checks }
        app.activate()
        await until("the check in the foreground") { app.server.checks > checks + 1 }
        expect(app.lockout == texts, "the lockout stays")
        expect(app.server.questions.count == 3, "it asks again in the foreground")
        app.server.answer([blocked.replacingOccurrences(of: #""T""#, with: #""U""#)])
        app.tap("Try again")
        await until("another text, in the same window") {
            app.lockout.contains("U") && app.cover(of: app.scene) === cover
        }
        app.server.answer([])
        app.tap("Try again")
        await until("the end") { app.cover(of: app.scene) == nil }
        expect(!below.contains(where: \.accessibilityElementsHidden), "VoiceOver reads again")
        expect(UIWindow.key === sheet, "the keyboard is the app's again")
    }

    /// With a `maximumAge` of 0 a lockout stays as long as the server sends it.
    private static func lockoutThatIsNotKept() async throws {
        let app = try app([blocked], maximumAge: 0)
        app.activate()
        await until("the lockout") { !app.lockout.isEmpty }
        let ways: [@MainActor () -> Void] = [
            { app.activate() }, { app.screens.check() }, { app.tap("Try again") },
        ]
        for (number, again) in ways.enumerated() {
            again()
            await until("the check") { app.server.checks == number + 2 }
            expect(app.server.questions.count == number + 2, "it asks")
            expect(!app.lockout.isEmpty, "the lockout stays")
        }
        app.server.answer([])
        app.activate()
        await until("the end") { app.lockout.isEmpty }
        app.activate()
        await until("the check after it") { app.server.checks == 6 }
        expect(app.server.questions.count == 5, "which does not ask")
    }

    /// Each scene is covered, also one that comes later.
    private static func severalScenes() async throws {
        let app = try app([blocked])
        let other = UIWindowScene()
        UIWindow(windowScene: other).makeKeyAndVisible()
        UIApplication.shared.connectedScenes.insert(other)
        app.activate()
        await until("both") { app.cover(of: app.scene) != nil && app.cover(of: other) != nil }
        let third = UIWindowScene()
        UIWindow(windowScene: third).makeKeyAndVisible()
        UIApplication.shared.connectedScenes.insert(third)
        app.activate()
        expect(app.cover(of: third) != nil, "a new scene is covered at once")
    }
}
