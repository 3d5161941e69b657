/// The type of the values of a column.
package enum ColumnType: Sendable, Hashable {
    /// Text for people, a name, an address.
    case text
    /// The key of a rule or the name of a feed, which never changes.
    case key
    /// The bundle of an app. ASCII case does not count.
    case bundle
    /// A language tag. ASCII case does not count.
    case language
    /// The name of a platform, which is kept in one form.
    case platform
    /// A version or a build: text that often looks like a number, and is none.
    case version
    /// A range of versions or builds.
    case range
    /// A list of texts.
    case texts
    /// A list of names of platforms.
    case platforms
    /// True or false.
    case boolean
    /// A whole number of 32 bits.
    case integer
    /// A whole number of 64 bits.
    case bigInteger
    /// A share of all installs.
    case percentage
    /// A moment.
    case time
    /// A length of time.
    case duration
    /// Names, each with the texts that are accepted for it.
    case attributes
}

/// The purpose of a column. It decides whether an edit can lock somebody out.
package enum ColumnRole: Sendable, Hashable, CaseIterable {
    /// Identifies the row.
    case identity
    /// Decides which clients a rule reaches, which a release can be offered to, or whether an app is answered at all.
    case condition
    /// A part of what clients show, or of how a document that they read is found: it decides nothing about lockouts.
    case message
    /// The order of the messages.
    case order
    /// For the people who edit; never sent, and not read by servers.
    case note
    /// Decides when a rule applies, and to which share of the installs.
    case schedule
    /// Turns something on or off.
    case `switch`
    /// Takes a lockout away by itself, and never adds one.
    case fuse
}

/// A column of a policy table that people edit, whatever its record.
package struct ColumnDefinition: Sendable, Hashable {
    /// The name in SQL and in policy files.
    package let name: String
    /// The type of the values.
    package let type: ColumnType
    /// The purpose of the column.
    package let role: ColumnRole
    /// The value where none is given; nil where a value is required.
    package let defaultValue: PolicyValue?
    /// A value as people write it, for hints.
    package let example: String

    init(_ name: String, _ type: ColumnType, role: ColumnRole, default defaultValue: PolicyValue?, example: String?) {
        self.name = name
        self.type = type
        self.role = role
        self.defaultValue = defaultValue
        self.example = example ?? type.example
    }
}

extension ColumnType {
    /// Whether a value is several, each written by itself.
    package var isList: Bool { self == .texts || self == .platforms || self == .attributes }

    fileprivate var example: String {
        switch self {
        case .text, .key, .bundle, .language: "text"
        case .platform: "ios"
        case .version, .range: "\"1.2\""
        case .texts: "[JP, US]"
        case .platforms: "[ios]"
        case .boolean: "true"
        case .integer: "10"
        case .bigInteger: "1234567890"
        case .percentage: "25"
        case .time: "2026-03-01T12:00:00Z"
        case .duration: "2 days"
        case .attributes: "{channel: [beta]}"
        }
    }
}

/// A column and the property of the record that holds its value.
///
/// Everything that reads, writes or compares columns uses ``PolicyRecord/columns``, so a new column is defined there and
/// nowhere else.
package struct PolicyColumn<Record: PolicyRecord>: Sendable {
    /// A property of the record.
    package typealias Path<Value> = any WritableKeyPath<Record, Value> & Sendable

    /// The property that holds the value, by its Swift type.
    package enum Property: Sendable {
        /// A required text.
        case text(Path<String>)
        /// A text; nil is null.
        case optionalText(Path<String?>)
        /// A list of texts; nil is null.
        case texts(Path<[String]?>)
        /// True or false.
        case flag(Path<Bool>)
        /// A whole number of 32 bits.
        case integer(Path<Int>)
        /// A whole number; nil is null.
        case optionalInteger(Path<Int64?>)
        /// A share of all installs.
        case percentage(Path<Percentage>)
        /// A share of something; nil is null.
        case optionalPercentage(Path<Percentage?>)
        /// A required moment.
        case time(Path<Timestamp>)
        /// A moment; nil is null.
        case optionalTime(Path<Timestamp?>)
        /// A length of time; nil is null.
        case duration(Path<DayTimeInterval?>)
        /// Conditions on attributes; nil is null.
        case attributes(Path<[AttributeCondition]?>)
    }

    /// The column, whatever its record.
    package let definition: ColumnDefinition
    /// The property that holds the value.
    package let property: Property
    /// The name in the file of the last good policy, for ever.
    package let storedName: String

    /// The name in SQL and in policy files.
    package var name: String { definition.name }
    /// The type of the values.
    package var type: ColumnType { definition.type }
    /// The purpose of the column.
    package var role: ColumnRole { definition.role }
    /// The value where none is given; nil where a value is required.
    package var defaultValue: PolicyValue? { definition.defaultValue }

    private init(
        _ name: String,
        _ type: ColumnType,
        _ property: Property,
        role: ColumnRole,
        isRequired: Bool = false,
        storedName: String? = nil,
        example: String? = nil
    ) {
        self.property = property
        self.storedName = storedName ?? Self.camelCased(name)
        definition = ColumnDefinition(
            name, type, role: role, default: isRequired ? nil : property.value(of: Record.blank), example: example
        )
    }

    /// The value that a record has.
    package func value(of record: Record) -> PolicyValue { property.value(of: record) }

    /// Gives a record a value.
    ///
    /// - Precondition: The value is of the column's type; null is only where the property can be nil.
    package func set(_ value: PolicyValue, in record: inout Record) {
        switch (property, value) {
        case (.text(let path), .text(let text)): record[keyPath: path] = text.string
        case (.optionalText(let path), .text(let text)): record[keyPath: path] = text.string
        case (.optionalText(let path), .null): record[keyPath: path] = nil
        case (.texts(let path), .texts(let texts)): record[keyPath: path] = texts.map(\.string)
        case (.texts(let path), .null): record[keyPath: path] = nil
        case (.flag(let path), .boolean(let flag)): record[keyPath: path] = flag
        case (.integer(let path), .integer(let number)): record[keyPath: path] = Int(number)
        case (.optionalInteger(let path), .integer(let number)): record[keyPath: path] = number
        case (.optionalInteger(let path), .null): record[keyPath: path] = nil
        case (.percentage(let path), .percentage(let percentage)): record[keyPath: path] = percentage
        case (.optionalPercentage(let path), .percentage(let percentage)): record[keyPath: path] = percentage
        case (.optionalPercentage(let path), .null): record[keyPath: path] = nil
        case (.time(let path), .time(let time)): record[keyPath: path] = time
        case (.optionalTime(let path), .time(let time)): record[keyPath: path] = time
        case (.optionalTime(let path), .null): record[keyPath: path] = nil
        case (.duration(let path), .duration(let duration)): record[keyPath: path] = duration
        case (.duration(let path), .null): record[keyPath: path] = nil
        case (.attributes(let path), .attributes(let attributes)):
            record[keyPath: path] = attributes.sorted { $0.key < $1.key }.map { name, values in
                AttributeCondition(name: name.string, values: values.map(\.string))
            }
        case (.attributes(let path), .null): record[keyPath: path] = nil
        default: preconditionFailure("the column \(name) of \(Record.table.rawValue) cannot hold \(value)")
        }
    }

    private static func camelCased(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension PolicyColumn.Property {
    /// The property of the record.
    fileprivate var path: PartialKeyPath<Record> {
        switch self {
        case .text(let path): path
        case .optionalText(let path): path
        case .texts(let path): path
        case .flag(let path): path
        case .integer(let path): path
        case .optionalInteger(let path): path
        case .percentage(let path): path
        case .optionalPercentage(let path): path
        case .time(let path): path
        case .optionalTime(let path): path
        case .duration(let path): path
        case .attributes(let path): path
        }
    }

    fileprivate func value(of record: Record) -> PolicyValue {
        switch self {
        case .text(let path): .text(UTF8Text(record[keyPath: path]))
        case .optionalText(let path): record[keyPath: path].map { .text(UTF8Text($0)) } ?? .null
        case .texts(let path): record[keyPath: path].map { .texts($0.map { UTF8Text($0) }) } ?? .null
        case .flag(let path): .boolean(record[keyPath: path])
        case .integer(let path): .integer(Int64(record[keyPath: path]))
        case .optionalInteger(let path): record[keyPath: path].map { .integer($0) } ?? .null
        case .percentage(let path): .percentage(record[keyPath: path])
        case .optionalPercentage(let path): record[keyPath: path].map { .percentage($0) } ?? .null
        case .time(let path): .time(record[keyPath: path])
        case .optionalTime(let path): record[keyPath: path].map { .time($0) } ?? .null
        case .duration(let path): record[keyPath: path].map { .duration($0) } ?? .null
        case .attributes(let path):
            record[keyPath: path].map { conditions in
                .attributes(
                    Dictionary(conditions.map { (UTF8Text($0.name), $0.values.map { UTF8Text($0) }) }) { first, _ in
                        first
                    }
                )
            } ?? .null
        }
    }
}

extension PolicyRecord {
    /// The column that a property holds.
    ///
    /// - Precondition: The property has a column: it is neither an id nor the rows of another table.
    package static func column(_ path: PartialKeyPath<Self>) -> PolicyColumn<Self> {
        guard let column = columns.first(where: { $0.property.path == path }) else {
            preconditionFailure("\(path) is no column of \(table.rawValue)")
        }
        return column
    }
}

// MARK: - Columns by their type

extension PolicyColumn {
    static func text(
        _ name: String,
        _ path: Path<String>,
        _ type: ColumnType = .text,
        role: ColumnRole,
        example: String? = nil
    ) -> Self {
        Self(name, type, .text(path), role: role, isRequired: true, example: example)
    }

    static func optionalText(
        _ name: String,
        _ path: Path<String?>,
        _ type: ColumnType = .text,
        role: ColumnRole,
        storedName: String? = nil,
        example: String? = nil
    ) -> Self {
        Self(name, type, .optionalText(path), role: role, storedName: storedName, example: example)
    }

    static func texts(
        _ name: String,
        _ path: Path<[String]?>,
        _ type: ColumnType = .texts,
        role: ColumnRole,
        storedName: String? = nil,
        example: String? = nil
    ) -> Self {
        Self(name, type, .texts(path), role: role, storedName: storedName, example: example)
    }

    static func flag(_ name: String, _ path: Path<Bool>, role: ColumnRole) -> Self {
        Self(name, .boolean, .flag(path), role: role)
    }

    static func integer(_ name: String, _ path: Path<Int>, role: ColumnRole) -> Self {
        Self(name, .integer, .integer(path), role: role)
    }

    static func optionalInteger(
        _ name: String,
        _ path: Path<Int64?>,
        _ type: ColumnType = .integer,
        role: ColumnRole,
        storedName: String? = nil
    ) -> Self {
        Self(name, type, .optionalInteger(path), role: role, storedName: storedName)
    }

    static func percentage(
        _ name: String,
        _ path: Path<Percentage>,
        role: ColumnRole,
        isRequired: Bool = false
    ) -> Self {
        Self(name, .percentage, .percentage(path), role: role, isRequired: isRequired)
    }

    static func optionalPercentage(_ name: String, _ path: Path<Percentage?>, role: ColumnRole, example: String) -> Self
    {
        Self(name, .percentage, .optionalPercentage(path), role: role, example: example)
    }

    static func time(_ name: String, _ path: Path<Timestamp>, role: ColumnRole) -> Self {
        Self(name, .time, .time(path), role: role, isRequired: true)
    }

    static func optionalTime(_ name: String, _ path: Path<Timestamp?>, role: ColumnRole) -> Self {
        Self(name, .time, .optionalTime(path), role: role)
    }

    /// Its name in the file of the last good policy says the unit.
    static func duration(_ name: String, _ path: Path<DayTimeInterval?>, role: ColumnRole) -> Self {
        Self(name, .duration, .duration(path), role: role, storedName: camelCased(name) + "Microseconds")
    }

    static func attributes(_ name: String, _ path: Path<[AttributeCondition]?>, role: ColumnRole) -> Self {
        Self(name, .attributes, .attributes(path), role: role)
    }
}
