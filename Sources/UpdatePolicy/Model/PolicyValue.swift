/// The value of a column of a policy table. Texts are equal if their UTF-8 bytes are.
package enum PolicyValue: Sendable, Hashable {
    case null
    case text(UTF8Text)
    case texts([UTF8Text])
    case boolean(Bool)
    case integer(Int64)
    case percentage(Percentage)
    case time(Timestamp)
    case duration(DayTimeInterval)
    /// Names, each with what is accepted for it.
    case attributes([UTF8Text: AcceptedValues])

    package var text: String? {
        if case .text(let text) = self { text.string } else { nil }
    }

    /// The value by which the database identifies a row: in lower case where case does not count.
    package func identity(as type: ColumnType) -> PolicyValue {
        guard type == .bundle || type == .language, case .text(let text) = self else { return self }
        return .text(text.lowercasedASCII)
    }
}
