// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Mustache
import UpdatePolicy

/// The templates and assets that the binary carries.
struct PageTemplates: Sendable {
    /// A file that pages load.
    struct Asset: Sendable {
        let contentType: String
        let tag: String
        let body: [UInt8]
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
                    contentType: ["css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"][
                        ending,
                        default: "text/plain"
                    ]
                        + "; charset=utf-8",
                    tag: "\"\(SHA256.hash(data: text.utf8).hexadecimal.prefix(32))\"",
                    body: Array(text.utf8)
                )
            }
        }
        self.templates = templates
        self.assets = assets
    }

    /// A page of a view.
    func page(_ name: String, _ view: Any, status: Int = 200, fields: [(name: String, value: String)] = [])
        -> PageResponse
    {
        guard let text = templates.render(PageValue.of(view), withTemplate: name) else {
            preconditionFailure("no template \(name)")
        }
        return PageResponse(
            status: status,
            contentType: "text/html; charset=utf-8",
            fields: [("Cache-Control", "no-store")] + fields,
            body: text.utf8
        )
    }
}

/// A text of a view; an empty one is as good as none to a section of a template.
private struct PageValue: MustacheCustomRenderable {
    let renderText: String
    var isNull: Bool { renderText.isEmpty }

    /// A view as templates read it: objects as dictionaries, so that what is not there is looked for nowhere else.
    static func of(_ view: Any) -> Any {
        if let text = view as? String { return PageValue(renderText: text) }
        if view is Bool { return view }
        let mirror = Mirror(reflecting: view)
        switch mirror.displayStyle {
        case .collection: return mirror.children.map { of($0.value) }
        case .optional: return mirror.children.first.map { of($0.value) } ?? PageValue(renderText: "")
        default:
            return mirror.children.reduce(into: [String: Any]()) { members, child in
                if let name = child.label { members[name] = of(child.value) }
            }
        }
    }
}

/// Text as a page shows it.
struct PageText: MustacheContentType {
    static let name = "PAGE"

    func escapeText(_ text: String) -> String { text.markup(keepsNewlines: true) }
}

extension String {
    /// The text within HTML and SVG: what steers or cannot be shown is written out, and what means something escaped.
    func markup(keepsNewlines: Bool = false) -> String {
        let text = visible(keepsNewlines: keepsNewlines)
            .replacing("\u{FFFE}", with: "\\u{fffe}").replacing("\u{FFFF}", with: "\\u{ffff}")
        return XMLText.escaped(text)
    }
}
