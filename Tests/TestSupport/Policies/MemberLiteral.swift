package import UpdatePolicy

/// A value of a member of a check, as JSON has it.
package enum MemberLiteral: Sendable, Hashable {
    case text(String)
    /// A number in the characters it is written with; no exponent and no minus zero, which `jsonb` does not keep.
    case number(String)
    case boolean(Bool)
    case null
    /// An object or an array, as JSON.
    case composite(String)

    /// The value as JSON.
    package var json: String {
        switch self {
        case .text(let text): JSONText.quoted(text)
        case .number(let number): number
        case .boolean(let boolean): boolean ? "true" : "false"
        case .null: "null"
        case .composite(let json): json
        }
    }

    /// The value as the engine takes it.
    package var memberValue: MemberValue {
        switch self {
        case .text(let text): .text(UTF8Text(text))
        case .number(let number): .number(UTF8Text(number))
        case .boolean(let boolean): .boolean(boolean)
        case .null: .null
        case .composite: .composite
        }
    }
}

extension MemberLiteral: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .text(value)
    }
}

/// In the vectors a number is `{"number": "1.10"}` and an object or array `{"json": "[]"}`, so that no reader of JSON
/// writes them anew.
extension MemberLiteral: Decodable {
    private enum Kind: CodingKey {
        case number, json
    }

    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Kind.self) {
            if let number = try container.decodeIfPresent(String.self, forKey: .number) {
                self = .number(number)
            } else {
                self = .composite(try container.decode(String.self, forKey: .json))
            }
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}
