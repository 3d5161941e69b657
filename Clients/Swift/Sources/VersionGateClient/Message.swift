public import Foundation

/// A message to show now: a dialog with two buttons, or, if it is a lockout, a screen over the whole app.
///
/// Show ``title`` and ``text`` as plain text. Tell the message what the person did: ``dismiss()``, ``opened()`` or
/// ``skip()``. A lockout cannot be closed or skipped, and those change nothing of it.
public struct Message: Sendable, Identifiable {
    private let content: MessageContent
    private let gate: VersionGate?

    /// Of a lockout that ends by itself: the seconds that were left when it was given.
    ///
    /// Two messages that differ in it alone are equal.
    public let left: Int?

    init(_ content: MessageContent, gate: VersionGate) {
        left = content.left
        var content = content
        content.left = nil
        self.content = content
        self.gate = gate
    }

    /// Creates a message that no server sent, for previews and tests. What the person does with it is not recorded.
    ///
    /// A `link` that an app must not open is left out, as from an answer.
    public init(
        id: String,
        title: String,
        text: String,
        link: String? = nil,
        target: String? = nil,
        isLockout: Bool = false,
        left: Int? = nil,
        canSkip: Bool = false
    ) {
        self.left = isLockout ? left : nil
        content = MessageContent(
            id: id, title: title, text: text, link: link.flatMap { MessageContent.mayOpen($0) ? $0 : nil },
            target: target, isLockout: isLockout, canSkip: canSkip && !isLockout
        )
        gate = nil
    }

    /// The key of the rule that sends it.
    public var id: String { content.id }

    /// The title, in the language of the person if the rule has it.
    public var title: String { content.title }

    /// The text, which may have several lines.
    public var text: String { content.text }

    /// What to open if the person asks for more, such as the app's page in the store; nil if there is nothing.
    ///
    /// Open it with the system, not in a web view of the app.
    public var link: URL? { content.link.flatMap(Self.url) }

    /// The version that the message asks the person to update to, if its rule has one and a hint.
    public var target: String? { content.target }

    /// Whether the app must not go on. Offer ``link``, and a button "Try again" that calls ``VersionGate/check(force:manual:)``.
    public var isLockout: Bool { content.isLockout }

    /// Whether the person may choose never to see it again.
    public var canSkip: Bool { content.canSkip }

    /// The person closed the message.
    public func dismiss() {
        gate?.record(content, skipped: false)
    }

    /// The person chose never to see the message again. If it cannot be skipped, it was closed.
    public func skip() {
        gate?.record(content, skipped: content.canSkip)
    }

    /// The person followed the link, which is what this gives to open.
    @discardableResult
    public func opened() -> URL? {
        gate?.record(content, skipped: false)
        return link
    }

    /// A link as the system takes it: characters that no address can have are percent-encoded.
    private static func url(_ link: String) -> URL? {
        URL(string: link)
            ?? link.addingPercentEncoding(withAllowedCharacters: addressCharacters).flatMap(URL.init(string:))
    }

    private static let addressCharacters = CharacterSet.alphanumerics.union(
        .init(charactersIn: "-._~:/?#[]@!$&'()*+,;=%")
    )
}

extension Message: Hashable {
    /// Whether both say the same.
    public static func == (one: Message, other: Message) -> Bool { one.content == other.content }

    /// Hashes what the message says.
    public func hash(into hasher: inout Hasher) { hasher.combine(content) }
}
