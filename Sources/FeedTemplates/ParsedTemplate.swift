// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Mustache
public import UpdatePolicy

/// A template that was read, and renders documents.
public struct ParsedTemplate: Sendable {
    /// The most bytes that a document may have.
    public static let largestDocument = 1 << 20
    /// Values are escaped before the parser of Mustache has them, so it shall not; the line ends with its own newline, and
    /// leaves nothing behind.
    private static let withoutEscaping = "{{% CONTENT_TYPE: TEXT}}\n"

    private let parts: [TemplatePart]
    private let template: MustacheTemplate
    private let escaping: Escaping

    /// Reads a template.
    ///
    /// - Throws: ``FeedTemplateFault``: the first fault that it has.
    public init(_ template: FeedTemplate) throws(FeedTemplateFault) {
        var scanner = TemplateScanner(template.body)
        parts = try scanner.scan()
        escaping = Escaping(contentType: template.contentType)
        do {
            self.template = try MustacheTemplate(string: Self.withoutEscaping + template.body)
        } catch {
            let place = (error as? MustacheTemplate.ParserError)?.context
            throw FeedTemplateFault(
                line: place.map { max(1, $0.lineNumber - 1) } ?? 1,
                column: place?.columnNumber ?? 1,
                message: "it cannot be read as a template",
                hint:
                    "Write {{name}}, {{#section}}...{{/section}} or {{^section}}...{{/section}}, with names of a-z and \"_\"."
            )
        }
    }

    /// The document with these values; nil if it would have more than ``largestDocument`` bytes, where each tag counts as
    /// twenty bytes more than its value as often as it comes.
    public func render(_ values: FeedValues) -> String? {
        let values = TemplateValue.all(of: values, escaping.escape)
        guard size(parts, [values], 0) <= Self.largestDocument else { return nil }
        return template.render(TemplateValue.object(values).rendered)
    }

    /// A part counts as so many bytes more than it has, since one without a value takes time too.
    private static let bytesOfPart = 20

    /// A bound of the bytes that some parts come to, added to those before; it is not followed beyond the largest
    /// document.
    private func size(_ parts: [TemplatePart], _ scopes: [[String: TemplateValue]], _ before: Int) -> Int {
        var size = before
        for part in parts {
            guard size <= Self.largestDocument else { return size }
            size += Self.bytesOfPart
            switch part {
            case .literal(let count): size += count
            case .value(let path):
                switch Self.value(path, scopes) {
                case .text(let text): size += text.utf8.count
                case .flag: size += 5
                case .object, .list, nil: break
                }
            case .conditional(let inner): size = self.size(inner, scopes, size)
            case .section(let path, let inner):
                switch Self.value(path, scopes) {
                case .list(let items):
                    for item in items where size <= Self.largestDocument {
                        size = self.size(inner, scopes + [item], size)
                    }
                case .object(let members): size = self.size(inner, scopes + [members], size)
                case .text(let text): size = self.size(inner, scopes + [[".": .text(text)]], size)
                case .flag: size = self.size(inner, scopes, size)
                case nil: break
                }
            }
        }
        return size
    }

    /// The value of a path, looked for from the innermost scope on.
    private static func value(_ path: [String], _ scopes: [[String: TemplateValue]]) -> TemplateValue? {
        guard let name = path.first else { return nil }
        guard var value = scopes.reversed().lazy.compactMap({ $0[name] }).first else { return nil }
        for member in path.dropFirst() {
            guard case .object(let members) = value, let found = members[member] else { return nil }
            value = found
        }
        return value
    }
}

/// How the values of a document are escaped.
private enum Escaping {
    case json, xml, none

    init(contentType: String) {
        self =
            switch contentType {
            case "application/json": .json
            case "text/plain": .none
            default: .xml
            }
    }

    func escape(_ text: String) -> String {
        switch self {
        case .json: String(decoding: JSONString.literal(text).utf8.dropFirst().dropLast(), as: UTF8.self)
        case .none: text
        case .xml:
            text.unicodeScalars.reduce(into: "") { escaped, scalar in
                switch scalar {
                case "&": escaped += "&amp;"
                case "<": escaped += "&lt;"
                case ">": escaped += "&gt;"
                case "\"": escaped += "&quot;"
                case "'": escaped += "&#39;"
                case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
                // XML has no way to write these.
                case "\0"..<" ", "\u{FFFE}"..."\u{FFFF}": escaped += "\u{FFFD}"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
