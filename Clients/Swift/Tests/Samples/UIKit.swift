// Stands in for UIKit where there is none: what the samples use, as far as their tests need it.

public import Foundation

@MainActor package class UIScene: NSObject {
    package enum ActivationState: Sendable { case foregroundActive, background }
    nonisolated package static let didActivateNotification = Notification.Name("UISceneDidActivate")
    package var activationState = ActivationState.foregroundActive
}

@MainActor package class UIWindowScene: UIScene {
    /// Those that can be seen, in the order in which they came.
    package var windows: [UIWindow] = []
}

@MainActor package class UIApplication {
    package struct OpenExternalURLOptionsKey: Hashable, Sendable {}
    package static let shared = UIApplication()
    package var connectedScenes: Set<UIScene> = []
    package var opened: [URL] = []
    package func open(_ url: URL, options: [OpenExternalURLOptionsKey: Any], completionHandler: ((Bool) -> Void)?) {
        opened.append(url)
    }
}

@MainActor package struct UIColor: Sendable {
    package static let systemBackground = UIColor()
}

package struct UIAccessibilityTraits: Sendable {
    package static let header = UIAccessibilityTraits()
}

@MainActor package class NSLayoutConstraint {
    package static func activate(_ constraints: [NSLayoutConstraint]) {}
}

@MainActor package class NSLayoutAnchor {
    package func constraint(equalTo other: NSLayoutAnchor, constant: Double = 0) -> NSLayoutConstraint { .init() }
}

@MainActor package class UILayoutGuide {
    package let topAnchor = NSLayoutAnchor(), bottomAnchor = NSLayoutAnchor(), leadingAnchor = NSLayoutAnchor()
    package let trailingAnchor = NSLayoutAnchor(), widthAnchor = NSLayoutAnchor()
}

@MainActor package class UIView: NSObject {
    package var backgroundColor: UIColor?
    package var translatesAutoresizingMaskIntoConstraints = true
    package var accessibilityElementsHidden = false
    package var accessibilityViewIsModal = false
    package var accessibilityTraits = UIAccessibilityTraits()
    package let safeAreaLayoutGuide = UILayoutGuide()
    package let topAnchor = NSLayoutAnchor(), bottomAnchor = NSLayoutAnchor(), leadingAnchor = NSLayoutAnchor()
    package let trailingAnchor = NSLayoutAnchor(), widthAnchor = NSLayoutAnchor()
    package private(set) var subviews: [UIView] = []
    private weak var superview: UIView?
    override package init() {}
    package func addSubview(_ view: UIView) {
        subviews.append(view)
        view.superview = self
    }
    package func removeFromSuperview() { superview?.subviews.removeAll { $0 === self } }
    @discardableResult package func endEditing(_ force: Bool) -> Bool { true }
}

@MainActor package class UIStackView: UIView {
    package enum Axis { case vertical }
    package var axis = Axis.vertical
    package var spacing = 0.0
    package var arrangedSubviews: [UIView] { subviews }
    package func addArrangedSubview(_ view: UIView) { addSubview(view) }
}

@MainActor package class UIScrollView: UIView {
    package let contentLayoutGuide = UILayoutGuide(), frameLayoutGuide = UILayoutGuide()
}

@MainActor package struct UIFont: Sendable {
    package enum TextStyle { case title1, body }
    package static func preferredFont(forTextStyle style: TextStyle) -> UIFont { UIFont() }
}

@MainActor package class UILabel: UIView {
    package var text: String?
    package var numberOfLines = 1
    package var font: UIFont?
    package var adjustsFontForContentSizeCategory = false
}

@MainActor package class UIAction {
    package let handler: (UIAction) -> Void
    package init(handler: @escaping (UIAction) -> Void) { self.handler = handler }
}

@MainActor package class UIButton: UIView {
    package struct Configuration: Sendable {
        package static func filled() -> Configuration { Configuration() }
        package static func gray() -> Configuration { Configuration() }
        package var title: String?
    }
    package let title: String?
    package let action: UIAction?
    package init(configuration: Configuration, primaryAction: UIAction?) {
        (title, action) = (configuration.title, primaryAction)
    }
}

/// The only class that samples inherit from.
@MainActor open class UIViewController: NSObject {
    package let view = UIView()
    private var isLoaded = false
    package private(set) var presentedViewController: UIViewController?
    package init(nibName: String?, bundle: Bundle?) {}
    package convenience override init() { self.init(nibName: nil, bundle: nil) }
    /// Never called.
    public required init?(coder: NSCoder) { nil }
    /// Called once.
    open func viewDidLoad() {}
    package func loadViewIfNeeded() {
        if !isLoaded { viewDidLoad() }
        isLoaded = true
    }
    package func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)?) {
        presentedViewController = controller
    }
}

@MainActor package class UIAlertAction {
    package enum Style: Sendable { case `default`, cancel }
    package let title: String?
    package let handler: ((UIAlertAction) -> Void)?
    package init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)?) {
        (self.title, self.handler) = (title, handler)
    }
}

@MainActor package final class UIAlertController: UIViewController {
    package enum Style: Sendable { case alert }
    package private(set) var actions: [UIAlertAction] = []
    package let title: String?
    package init(title: String?, message: String?, preferredStyle: Style) {
        self.title = title
        super.init(nibName: nil, bundle: nil)
    }
    package required init?(coder: NSCoder) { nil }
    package func addAction(_ action: UIAlertAction) { actions.append(action) }
}

@MainActor package class UIWindow: UIView {
    package struct Level: Comparable, Sendable {
        package let rawValue: Double
        package static let normal = Level(rawValue: 0), alert = Level(rawValue: 2_000)
        package static func + (level: Level, more: Double) -> Level { Level(rawValue: level.rawValue + more) }
        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }
    package static weak var key: UIWindow?
    package weak var windowScene: UIWindowScene?
    package var windowLevel = Level.normal
    package var rootViewController: UIViewController?
    package var isHidden = true {
        didSet {
            windowScene?.windows.removeAll { $0 === self }
            if !isHidden { windowScene?.windows.append(self) }
        }
    }
    package init(windowScene: UIWindowScene) { self.windowScene = windowScene }
    package func makeKey() { Self.key = self }
    package func makeKeyAndVisible() {
        isHidden = false
        makeKey()
    }
}
