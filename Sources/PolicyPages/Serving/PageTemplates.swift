import HTTPTypes
import Hummingbird
import Mustache
package import UpdatePolicy

/// The templates and assets that the binary carries.
enum PageTemplates {
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

    private static let types = [".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"]

    static let assets: [String: Asset] = embeddedFiles.reduce(into: [:]) { assets, file in
        guard let type = types.first(where: { file.name.hasSuffix($0.key) })?.value else { return }
        let tag = "\"\(SHA256.hash(data: file.text.utf8).hexadecimal.prefix(32))\""
        assets[file.name] = Asset(contentType: type, tag: tag, text: file.text)
    }

    private static let library: MustacheLibrary = {
        MustacheContentTypes.register(PageText(), named: PageText.name)
        var library = MustacheLibrary()
        for (name, text) in embeddedFiles where name.hasSuffix(".mustache") {
            do {
                let text = "{{% CONTENT_TYPE: \(PageText.name)}}\n" + text
                try library.register(text, named: String(name.prefix { $0 != "." }))
            } catch {
                preconditionFailure("\(name) cannot be read: \(error)")
            }
        }
        return library
    }()

    /// What a template makes of a view.
    static func text(_ name: String, _ view: JSONValue) -> String {
        guard let text = library.render(view, withTemplate: name) else { preconditionFailure("no template \(name)") }
        return text
    }
}

/// As templates see it; an empty text or null is as good as none to a section.
extension JSONValue: MustacheParent, MustacheCustomRenderable, MustacheCustomRepresentation {
    package var representation: Any? {
        switch self {
        case .boolean(let boolean): boolean
        case .array(let elements): elements
        default: self
        }
    }

    package var renderText: String {
        switch self {
        case .string(let text), .number(let text): text
        case .integer(let integer): "\(integer)"
        case .null, .boolean, .array, .object: ""
        }
    }

    package var isNull: Bool {
        if case .object = self { false } else { renderText.isEmpty }
    }

    package func child(named name: String) -> Any? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
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
