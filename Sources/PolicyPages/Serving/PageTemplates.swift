import HTTPTypes
import Hummingbird
import Mustache
import UpdatePolicy

/// The templates and assets that the binary carries.
struct PageTemplates: Sendable {
    /// A file that pages load.
    struct Asset: Sendable {
        let contentType: String
        let tag: String
        let text: String

        func response(to request: Request) -> Response {
            let isKnown = request.headers[.ifNoneMatch]?.contains(tag) ?? false
            return .page(
                isKnown ? .notModified : .ok, contentType, isKnown ? "" : text, [.eTag: tag, .cacheControl: "no-cache"]
            )
        }
    }

    /// All of them, read once.
    static let all: PageTemplates = {
        do {
            return try PageTemplates()
        } catch {
            preconditionFailure("a template of the pages cannot be read: \(error)")
        }
    }()

    /// By name.
    let assets: [String: Asset]
    private let templates: MustacheLibrary

    private static let types = ["css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]

    private init() throws {
        MustacheContentTypes.register(PageText(), named: PageText.name)
        var templates = MustacheLibrary()
        var assets: [String: Asset] = [:]
        for (name, text) in embeddedFiles {
            let parts = name.split(separator: ".")
            let ending = parts.last.map(String.init) ?? ""
            if ending == "mustache" {
                try templates.register("{{% CONTENT_TYPE: \(PageText.name)}}\n" + text, named: String(parts[0]))
            } else {
                assets[name] = Asset(
                    contentType: Self.types[ending] ?? "text/plain",
                    tag: "\"\(SHA256.hash(data: text.utf8).hexadecimal.prefix(32))\"", text: text
                )
            }
        }
        self.templates = templates
        self.assets = assets
    }

    /// What a template makes of a view.
    func text(_ name: String, _ view: JSONValue) -> String {
        guard let text = templates.render(PageValue.of(view), withTemplate: name) else {
            preconditionFailure("no template \(name)")
        }
        return text
    }
}

/// A value of a view; an empty text or null is as good as none to a section of a template.
private struct PageValue: MustacheParent, MustacheCustomRenderable {
    let value: JSONValue

    static func of(_ value: JSONValue) -> Any {
        switch value {
        case .boolean(let boolean): boolean
        case .array(let elements): elements.map(of)
        default: PageValue(value: value)
        }
    }

    var renderText: String {
        switch value {
        case .string(let text), .number(let text): text
        case .integer(let integer): "\(integer)"
        case .null, .boolean, .array, .object: ""
        }
    }

    var isNull: Bool {
        if case .object = value { false } else { renderText.isEmpty }
    }

    func child(named name: String) -> Any? {
        guard case .object(let members) = value else { return nil }
        return members.first { $0.name == name }.map { Self.of($0.value ?? .null) }
    }
}

/// Text within HTML and SVG: what steers or cannot be shown is written out, and what means something is escaped.
struct PageText: MustacheContentType {
    static let name = "PAGE"

    func escapeText(_ text: String) -> String {
        var text = text.visible(keepsNewlines: true)
        for scalar in ["\u{FFFE}", "\u{FFFF}"] as [Unicode.Scalar] where text.unicodeScalars.contains(scalar) {
            text = text.replacing("\(scalar)", with: "\\u{\(String(scalar.value, radix: 16))}")
        }
        return XMLText.escaped(text)
    }
}
