import UpdateFeeds
import UpdatePolicy

/// Writes the document of a template: a value is escaped when its tag is met, and no more is written than a document may have.
///
/// A library for Mustache writes the whole document, however large, before anybody can stop it.
struct TemplateRenderer {
    /// A part counts as so many bytes more than it writes, since one without a value takes time too.
    private static let bytesOfPart = 20

    private(set) var bytes: [UInt8] = []
    private var partCount = 0
    private let escaping: TemplateEscaping
    private let largest: Int

    init(_ escaping: TemplateEscaping, largest: Int) {
        (self.escaping, self.largest) = (escaping, largest)
    }

    /// Whether the document would have more bytes than it may have; then it is not written to its end.
    var isTooLarge: Bool { bytes.count + Self.bytesOfPart * partCount > largest }

    /// - Parameter scopes: The values by their names, the innermost last.
    mutating func append(_ parts: [TemplatePart], _ scopes: [[String: TemplateValue]]) {
        for part in parts {
            partCount += 1
            if isTooLarge { return }
            switch part {
            case .literal(let text): bytes += text.utf8
            case .value(let path):
                switch Self.value(path, scopes) {
                case .text(let text): escaping.append(text, to: &bytes)
                case .flag(let flag): bytes += (flag ? "true" : "false").utf8
                case .object, .list, nil: break
                }
            case .section(let path, let inner):
                for scope in Self.scopes(of: Self.value(path, scopes)) where !isTooLarge {
                    append(inner, scopes + [scope])
                }
            case .inverted(let path, let inner):
                if Self.value(path, scopes)?.isEmpty ?? true { append(inner, scopes) }
            }
        }
    }

    /// What is known in a section, for each time that it is written.
    private static func scopes(of value: TemplateValue?) -> [[String: TemplateValue]] {
        switch value {
        case .list(let items):
            items.enumerated().map { index, members in
                members.merging([
                    "first()": .flag(index == 0), "last()": .flag(index == items.count - 1),
                ]) { $1 }
            }
        case .object(let members): [members]
        case .text(let text): [[".": .text(text)]]
        case .flag(true): [[:]]
        case .flag(false), nil: []
        }
    }

    /// The value of a path, looked for from the innermost scope on.
    private static func value(_ path: [String], _ scopes: [[String: TemplateValue]]) -> TemplateValue? {
        guard let name = path.first, var value = scopes.reversed().lazy.compactMap({ $0[name] }).first else {
            return nil
        }
        for member in path.dropFirst() {
            guard case .object(let members) = value, let found = members[member] else { return nil }
            value = found
        }
        return value
    }
}

/// How the values of a document are escaped.
enum TemplateEscaping {
    case json, xml, none

    init(contentType: String) {
        self =
            switch contentType {
            case "application/json": .json
            case "text/plain": .none
            default: .xml
            }
    }

    func append(_ text: String, to bytes: inout [UInt8]) {
        switch self {
        case .json: JSONString.appendEscaped(text, to: &bytes)
        case .xml: XMLText.append(text, to: &bytes)
        case .none: bytes += text.utf8
        }
    }
}
