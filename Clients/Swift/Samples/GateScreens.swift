import Foundation
import UIKit
import VersionGateClient

/// Checks whenever a scene of the app becomes active, shows messages as alerts one after the other, and covers each scene
/// while the app is locked out. Copy it into an app for iOS, with SwiftUI or UIKit, and keep one from the start of the app.
///
/// The windows of a lockout are above all of the app, also sheets, full-screen covers and alerts. What is below cannot be
/// tapped, typed into, or read by VoiceOver.
@MainActor
final class GateScreens {
    private let gate: VersionGate
    /// Messages that were not closed yet. The first is in the alert, if there is one.
    private var waiting: [Message] = []
    private var alert: UIWindow?
    private var lockout: Message?
    private var covers: [Cover] = []
    private var watch: Task<Void, Never>?
    private var isReady = false

    private struct Cover {
        let window: UIWindow
        /// What VoiceOver is to read again when the lockout ends.
        let below: [UIWindow]
    }

    /// The first check waits for `prepare`, which may set attributes of the gate, for at most 2 seconds.
    init(gate: VersionGate, before prepare: @escaping @MainActor () async -> Void = {}) {
        self.gate = gate
        let center = NotificationCenter.default
        _ = center.addObserver(forName: UIScene.didActivateNotification, object: nil, queue: nil) { [weak self] _ in
            MainActor.assumeIsolated { self?.sceneDidActivate() }
        }
        Task { [weak self] in
            await prepare()
            self?.start()
        }
        Task { [weak self] in
            try? await Task.sleep(nanoseconds: 2_000_000_000)
            self?.start()
        }
    }

    private func start() {
        guard !isReady else { return }
        isReady = true
        if scenes.contains(where: { $0.activationState == .foregroundActive }) { check() }
    }

    /// Checks now; `force` asks although 15 minutes are not over, as each check does during a lockout: one that does not
    /// ask gives what is kept, which with a `maximumAge` of 0 is nothing.
    func check(force: Bool = false) {
        guard isReady else { return }
        gate.check(force: force || lockout != nil) { [weak self] in self?.show($0) }
    }

    private func sceneDidActivate() {
        cover()
        showNext()
        check()
    }

    /// Shows the messages of a check that the app has made: for a button "Check for updates".
    func show(_ messages: [Message]) {
        lockout = messages.first(where: \.isLockout)
        waiting += messages.filter { new in !new.isLockout && !waiting.contains { $0.id == new.id } }
        watch?.cancel()
        watch = lockout.map { lockout in Task { [weak self] in await self?.askAgain(after: lockout.left) } }
        cover()
        showNext()
    }

    private var scenes: [UIWindowScene] {
        UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
    }

    // MARK: Lockout

    private func cover() {
        covers.removeAll { $0.window.windowScene == nil }
        guard let lockout else { return uncover() }
        for scene in scenes {
            if let cover = covers.first(where: { $0.window.windowScene === scene }) {
                (cover.window.rootViewController as? LockoutController)?.show(lockout)
                continue
            }
            let below = scene.windows.filter { $0 !== alert && !$0.accessibilityElementsHidden }
            for window in below {
                window.endEditing(true)
                window.accessibilityElementsHidden = true
            }
            let screen = LockoutController { [weak self] in self?.check(force: true) }
            let window = UIWindow(windowScene: scene)
            window.windowLevel = .alert + 1
            window.accessibilityViewIsModal = true
            window.rootViewController = screen
            screen.show(lockout)
            window.makeKeyAndVisible()
            covers.append(Cover(window: window, below: below))
        }
        alert?.makeKey()
    }

    private func uncover() {
        for cover in covers {
            cover.window.isHidden = true
            for window in cover.below { window.accessibilityElementsHidden = false }
            cover.below.last?.makeKey()
        }
        covers = []
    }

    /// A lockout is asked for again when it ends, or after 15 minutes. A server that goes on sending what has ended is not
    /// asked at once each time.
    private func askAgain(after left: Int?) async {
        let seconds = min(max(left ?? 900, 15), 900)
        if (try? await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000)) != nil { check() }
    }

    // MARK: Messages

    private func showNext() {
        if alert?.windowScene == nil { alert = nil }
        guard alert == nil, let message = waiting.first,
            let scene = scenes.first(where: { $0.activationState == .foregroundActive })
        else { return }
        let window = UIWindow(windowScene: scene)
        window.windowLevel = .alert + 2
        window.rootViewController = UIViewController()
        window.makeKeyAndVisible()
        alert = window
        let dialog = UIAlertController(title: message.title, message: message.text, preferredStyle: .alert)
        func add(_ text: String, _ style: UIAlertAction.Style, _ action: @escaping () -> Void) {
            dialog.addAction(
                UIAlertAction(title: localized(text), style: style) { [weak self] _ in
                    action()
                    self?.close(message)
                }
            )
        }
        if message.link != nil { add(isUpdate(message) ? "update" : "open", .default) { open(message.opened()) } }
        if message.canSkip { add("skip", .default) { message.skip() } }
        add(isUpdate(message) ? "later" : "close", .cancel) { message.dismiss() }
        window.rootViewController?.present(dialog, animated: true, completion: nil)
    }

    private func close(_ message: Message) {
        waiting.removeAll { $0.id == message.id }
        alert?.isHidden = true
        alert = nil
        covers.last?.window.makeKey()
        showNext()
    }
}

/// The screen of a lockout.
@MainActor
private final class LockoutController: UIViewController {
    private let tryAgain: () -> Void
    private let content = UIStackView()
    private var shown: Message?

    init(tryAgain: @escaping () -> Void) {
        self.tryAgain = tryAgain
        super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        content.axis = .vertical
        content.spacing = 16
        content.translatesAutoresizingMaskIntoConstraints = false
        let scroll = UIScrollView()
        scroll.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(scroll)
        scroll.addSubview(content)
        let (inner, area) = (scroll.contentLayoutGuide, view.safeAreaLayoutGuide)
        NSLayoutConstraint.activate([
            scroll.topAnchor.constraint(equalTo: area.topAnchor),
            scroll.bottomAnchor.constraint(equalTo: area.bottomAnchor),
            scroll.leadingAnchor.constraint(equalTo: area.leadingAnchor),
            scroll.trailingAnchor.constraint(equalTo: area.trailingAnchor),
            content.topAnchor.constraint(equalTo: inner.topAnchor, constant: 24),
            content.bottomAnchor.constraint(equalTo: inner.bottomAnchor, constant: -24),
            content.leadingAnchor.constraint(equalTo: inner.leadingAnchor, constant: 24),
            content.trailingAnchor.constraint(equalTo: inner.trailingAnchor, constant: -24),
            content.widthAnchor.constraint(equalTo: scroll.frameLayoutGuide.widthAnchor, constant: -48),
        ])
    }

    func show(_ lockout: Message) {
        loadViewIfNeeded()
        if let shown, shown.title == lockout.title, shown.text == lockout.text, shown.link == lockout.link { return }
        shown = lockout
        for view in content.arrangedSubviews { view.removeFromSuperview() }
        let title = label(lockout.title, .title1)
        title.accessibilityTraits = .header
        content.addArrangedSubview(title)
        content.addArrangedSubview(label(lockout.text, .body))
        if lockout.link != nil {
            let text = isUpdate(lockout) ? "update" : "open"
            content.addArrangedSubview(button(text, .filled()) { open(lockout.opened()) })
        }
        content.addArrangedSubview(button("tryAgain", .gray(), tryAgain))
    }

    private func label(_ text: String, _ style: UIFont.TextStyle) -> UILabel {
        let label = UILabel()
        label.text = text
        label.numberOfLines = 0
        label.font = .preferredFont(forTextStyle: style)
        label.adjustsFontForContentSizeCategory = true
        return label
    }

    private func button(_ text: String, _ look: UIButton.Configuration, _ action: @escaping () -> Void) -> UIButton {
        var configuration = look
        configuration.title = localized(text)
        return UIButton(configuration: configuration, primaryAction: UIAction { _ in action() })
    }
}

/// Whether the link leads to an update. A server sends `target` only with hints, so the App Store counts too.
private func isUpdate(_ message: Message) -> Bool {
    guard let link = message.link?.absoluteString.lowercased() else { return false }
    let stores = ["itms-apps:", "itms-appss:", "macappstore:", "https://apps.apple.com/"]
    return message.target != nil || stores.contains(where: link.hasPrefix)
}

/// A text of `VersionGate.xcstrings`, or in English if the app does not have it.
private func localized(_ text: String) -> String {
    let english = [
        "update": "Update", "open": "Open", "later": "Later", "skip": "Do not show again", "close": "Close",
        "tryAgain": "Try again",
    ]
    return NSLocalizedString("versiongate.\(text)", tableName: "VersionGate", value: english[text] ?? text, comment: "")
}

@MainActor
private func open(_ link: URL?) {
    if let link { UIApplication.shared.open(link, options: [:], completionHandler: nil) }
}
