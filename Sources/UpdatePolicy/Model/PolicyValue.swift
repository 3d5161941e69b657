/// The value of a column of a policy table. Texts are equal if their UTF-8 bytes are.
package enum PolicyValue: Sendable, Hashable {
    /// SQL's null.
    case null
    /// A text.
    case text(UTF8Text)
    /// A list of texts.
    case texts([UTF8Text])
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A share of all installs.
    case percentage(Percentage)
    /// A moment.
    case time(Timestamp)
    /// A length of time.
    case duration(DayTimeInterval)
    /// Names, each with the texts that are accepted for it.
    case attributes([UTF8Text: [UTF8Text]])

    /// The text, nil for anything else.
    package var text: String? {
        if case .text(let text) = self { text.string } else { nil }
    }

    /// The value by which the database identifies a row: in lower case where case does not count.
    func identity(as type: ColumnType) -> PolicyValue {
        guard type == .bundle || type == .language, case .text(let text) = self else { return self }
        return .text(text.lowercasedASCII)
    }
}
