package import Foundation

/// A value of JSON.
package enum JSON: Sendable, Codable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    package init(text: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: text)
    }

    /// The value in one line.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let members = try? value.decode([String: JSON].self) {
            self = .object(members)
        } else {
            self = .array(try value.decode([JSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .boolean(let boolean): try value.encode(boolean)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let elements): try value.encode(elements)
        case .object(let members): try value.encode(members)
        }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var boolean: Bool? {
        if case .boolean(let boolean) = self { boolean } else { nil }
    }

    package var whole: Int? {
        if case .number(let number) = self { Int(exactly: number) } else { nil }
    }

    package var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var members: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The member of an object.
    package subscript(name: String) -> JSON? {
        members?[name]
    }
}

extension JSON: Equatable {
    /// Whether both are the same; texts byte by byte.
    package static func == (one: JSON, other: JSON) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }
}
