/// A JSON document. The members of an object keep their order, which Foundation's encoder does not promise.
package enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(String)
    case string(String)
    case array([JSONValue])
    /// Members without a value are left out.
    case object([(name: String, value: JSONValue?)])

    /// An object of the members that have a value.
    package static func members(_ members: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        .object(members.map { ($0, $1?.jsonValue) })
    }

    /// The document on one line.
    package var text: String { text(breaksLines: false) }

    /// The document for terminals and tools that read lines: each object of the outermost arrays on a line of its own, and
    /// what steers terminals escaped.
    package var lines: String { text(breaksLines: true).visibleJSON }

    private func text(breaksLines: Bool) -> String {
        switch self {
        case .null: return "null"
        case .boolean(let boolean): return boolean ? "true" : "false"
        case .integer(let integer): return String(integer)
        case .number(let digits): return digits
        case .string(let text): return JSONString.literal(text)
        case .array(let elements):
            let texts = elements.map { $0.text(breaksLines: false) }
            if breaksLines, case .object = elements.first { return "[\n" + texts.joined(separator: ",\n") + "\n]" }
            return "[" + texts.joined(separator: ",") + "]"
        case .object(let members):
            let texts = members.compactMap { name, value in
                value.map { "\(JSONString.literal(name)):\($0.text(breaksLines: breaksLines))" }
            }
            return "{" + texts.joined(separator: ",") + "}"
        }
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// An object whose members without a value are null.
    package init(dictionaryLiteral members: (String, (any JSONConvertible)?)...) {
        self = .object(members.map { ($0, $1?.jsonValue ?? .null) })
    }
}

/// A type whose values JSON can hold.
package protocol JSONConvertible {
    var jsonValue: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    package var jsonValue: JSONValue { self }
}

extension String: JSONConvertible {
    package var jsonValue: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    package var jsonValue: JSONValue { .boolean(self) }
}

extension JSONConvertible where Self: BinaryInteger {
    package var jsonValue: JSONValue { .integer(Int64(self)) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}

extension Double: JSONConvertible {
    /// A number with up to six decimals. It must not be negative.
    package var jsonValue: JSONValue {
        let millionths = Int64((self * 1_000_000).rounded())
        let (whole, fraction) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
        return fraction == 0 ? .integer(whole) : .number(NumberText.decimal(whole, millionths: fraction))
    }
}

extension Percentage: JSONConvertible {
    package var jsonValue: JSONValue { .number(description) }
}

extension Timestamp: JSONConvertible {
    /// A string in ISO 8601.
    package var jsonValue: JSONValue { .string(description) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    package var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}
