/// The kind of a value, which a template is checked against before there are values.
indirect enum TemplateShape: Sendable {
    /// One text.
    case text
    /// True or false.
    case flag
    /// Values with names.
    case object([String: TemplateShape])
    /// Any number of values with names.
    case list([String: TemplateShape])

    /// The names that every template knows: those of `TemplateValue.all(of:)`.
    static let all: [String: TemplateShape] = [
        "bundle": .text,
        "name": .text,
        "store_link": .text,
        "prompt": .text,
        "floor": .text,
        "latest": .object(["version": .text, "build": .text, "min_os": .text, "live_at": .text, "notes": .text]),
        "messages": .list(["id": .text, "title": .text, "text": .text, "link": .text, "lockout": .flag]),
        "revision": .text,
    ]

    /// The names of the values in it.
    var members: [String: TemplateShape] {
        switch self {
        case .text, .flag: [:]
        case .object(let members), .list(let members): members
        }
    }
}
