import UpdateFeeds
import UpdatePolicy

/// Writes the document of a template: a value is escaped when its tag is met, and no more is written than a document may have.
struct TemplateRenderer {
    /// The place of an item in its list.
    struct Item {
        let isFirst, isLast: Bool
    }

    /// A part counts as so many bytes more than it writes, since one without a value takes time too.
    private static let bytesOfPart = 20

    private(set) var bytes: [UInt8] = []
    private var partCount = 0
    private let escaping: TemplateEscaping
    private let largest: Int

    init(_ escaping: TemplateEscaping, largest: Int) {
        self.escaping = escaping
        self.largest = largest
    }

    /// Whether the document would have more bytes than it may have; then it is not written to its end.
    var isTooLarge: Bool { bytes.count + Self.bytesOfPart * partCount > largest }

    /// Appends parts.
    ///
    /// - Parameters:
    ///   - scopes: The values by their names, the innermost last.
    ///   - item: The place of the item of the innermost list.
    mutating func append(_ parts: [TemplatePart], _ scopes: [[String: TemplateValue]], item: Item?) {
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
            case .section(let path, let inner): append(inner, for: Self.value(path, scopes), scopes, item)
            case .inverted(let path, let inner):
                if Self.value(path, scopes)?.isEmpty ?? true { append(inner, scopes, item: item) }
            case .first(let isFirst, let inner):
                if item?.isFirst == isFirst { append(inner, scopes, item: item) }
            case .last(let isLast, let inner):
                if item?.isLast == isLast { append(inner, scopes, item: item) }
            }
        }
    }

    /// Appends the parts of a section for each item of its value, or once.
    private mutating func append(
        _ parts: [TemplatePart],
        for value: TemplateValue?,
        _ scopes: [[String: TemplateValue]],
        _ item: Item?
    ) {
        switch value {
        case .list(let items):
            for (place, members) in items.enumerated() where !isTooLarge {
                let item = Item(isFirst: place == 0, isLast: place == items.count - 1)
                append(parts, scopes + [members], item: item)
            }
        case .object(let members): append(parts, scopes + [members], item: item)
        case .text: append(parts, scopes + [[".": value].compactMapValues(\.self)], item: item)
        case .flag(true): append(parts, scopes, item: item)
        case .flag(false), nil: break
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
