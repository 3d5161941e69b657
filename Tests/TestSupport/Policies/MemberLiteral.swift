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
