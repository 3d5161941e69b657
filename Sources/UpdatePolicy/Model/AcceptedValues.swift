/// What a rule accepts of an attribute.
package enum AcceptedValues: Sendable, Hashable {
    /// One of these texts, in the order they were written.
    case among([UTF8Text])
    /// Anything but these texts, and also nothing.
    case not([UTF8Text])
    /// What can be read as a version in this range.
    case range(UTF8Text)

    /// The texts that it names, accepted or not.
    package var texts: [UTF8Text] {
        switch self {
        case .among(let texts), .not(let texts): texts
        case .range: []
        }
    }

    package var isNot: Bool { if case .not = self { true } else { false } }

    package var range: UTF8Text? { if case .range(let range) = self { range } else { nil } }

    /// In words, without the name of the attribute: `beta, nightly`, `not staff`, `>=45 <60`.
    var text: String {
        range?.string ?? (isNot ? "not " : "") + texts.map(\.string).joined(separator: ", ")
    }

    /// In words: `channel = beta, nightly`, `tier not staff`, `stamp >=45 <60`.
    package func text(of name: String) -> String {
        if case .among = self { "\(name) = \(text)" } else { "\(name) \(text)" }
    }

    /// Whether a value is accepted; `nil` stands for one that was not sent.
    func accepts(_ value: UTF8Text?) -> Bool {
        switch self {
        case .among(let texts): value.map(texts.contains) ?? false
        case .not(let texts): !(value.map(texts.contains) ?? false)
        case .range(let range):
            value.flatMap { AppVersion($0.string) }.flatMap { VersionRange(range.string)?.contains($0) } ?? false
        }
    }

    /// Two conditions on one attribute as one: the texts of both, or what is in both ranges.
    ///
    /// - Returns: `nil` where they are of two kinds, or a range is of several, which a space cannot join.
    package func joined(with other: AcceptedValues) -> AcceptedValues? {
        switch (self, other) {
        case (.among(let texts), .among(let others)): .among(texts + others)
        case (.not(let texts), .not(let others)): .not(texts + others)
        case (.range(let range), .range(let other)) where !"\(range)\(other)".contains("|"):
            .range(UTF8Text("\(range) \(other)"))
        default: nil
        }
    }
}

/// As the column in SQL has it: `["beta"]`, `{"not": ["staff"]}`, `{"range": "<45"}`.
extension AcceptedValues: JSONConvertible, Codable {
    package var jsonValue: JSONValue {
        let texts = texts.map(\.string).jsonValue
        return switch self {
        case .among: texts
        case .not: ["not": texts]
        case .range(let range): ["range": range.string]
        }
    }

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let texts = try? value.decode([String].self) {
            self = .among(texts.map { UTF8Text($0) })
        } else if let member = try? value.decode([String: String].self), member.count == 1, let range = member["range"]
        {
            self = .range(UTF8Text(range))
        } else if let member = try? value.decode([String: [String]].self), member.count == 1, let texts = member["not"]
        {
            self = .not(texts.map { UTF8Text($0) })
        } else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "It is no condition on an attribute.")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .among(let texts): try texts.map(\.string).encode(to: encoder)
        case .not(let texts): try ["not": texts.map(\.string)].encode(to: encoder)
        case .range(let range): try ["range": range.string].encode(to: encoder)
        }
    }
}
