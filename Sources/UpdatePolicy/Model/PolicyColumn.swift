package enum ColumnType: Sendable, Hashable {
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
    case range
    case texts
    case platforms
    case boolean
    case integer
    case bigInteger
    case percentage
    case time
    case duration
    /// Names, each with what is accepted for it.
    case attributes
}

/// The purpose of a column. It decides whether an edit can lock somebody out.
package enum ColumnRole: Sendable, Hashable, CaseIterable {
    case identity
    /// Decides which clients a rule reaches, which a release can be offered to, or whether an app is answered at all.
    case condition
    /// A part of what clients show, or of how a document that they read is found: it decides nothing about lockouts.
    case message
    case order
    /// For the people who edit; never sent, and not read by servers.
    case note
    /// Decides when a rule applies, and to which share of the installs.
    case schedule
    case `switch`
    /// Takes a lockout away by itself, and never adds one.
    case fuse
}

/// A column of a policy table that people edit, whatever its record.
package struct ColumnDefinition: Sendable, Hashable {
    package let name: String
    package let type: ColumnType
    package let role: ColumnRole
    package let defaultValue: PolicyValue?
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

package protocol ColumnContent: Sendable, Equatable, Codable {
    /// - Precondition: The value is of the column's type; null is only where this can be nil.
    init(_ value: PolicyValue)
    var policyValue: PolicyValue { get }
}

package protocol ColumnProperty<Record>: Sendable {
    associatedtype Record: PolicyRecord
    associatedtype Value: ColumnContent
    var path: any WritableKeyPath<Record, Value> & Sendable { get }
}

extension ColumnProperty {
    package var valueType: any ColumnContent.Type { Value.self }
}

/// A column and the property of the record that holds its value.
///
/// Everything that reads, writes or compares columns uses ``PolicyRecord/columns``, so a new column is defined there and
/// nowhere else.
package struct PolicyColumn<Record: PolicyRecord>: Sendable {
    package struct Property<Value: ColumnContent>: ColumnProperty {
        package let path: any WritableKeyPath<Record, Value> & Sendable
    }

    package let definition: ColumnDefinition
    package let property: any ColumnProperty<Record>
    /// The name in the file of the last good policy, for ever.
    package let storedName: String

    package var name: String { definition.name }
    package var type: ColumnType { definition.type }
    package var role: ColumnRole { definition.role }
    package var defaultValue: PolicyValue? { definition.defaultValue }

    /// - Parameters:
    ///   - isRequired: Whether a value must be given; else ``PolicyRecord/blank`` has the default.
    ///   - storedName: The name in the file of the last good policy, where it is not that in SQL in camel case.
    init<Value: ColumnContent>(
        _ name: String,
        _ path: any WritableKeyPath<Record, Value> & Sendable,
        _ type: ColumnType,
        role: ColumnRole,
        isRequired: Bool = false,
        storedName: String? = nil,
        example: String? = nil
    ) {
        property = Property(path: path)
        let words = name.split(separator: "_")
        self.storedName =
            storedName
            ?? words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        definition = ColumnDefinition(
            name, type, role: role, default: isRequired ? nil : Record.blank[keyPath: path].policyValue,
            example: example
        )
    }

    package func value(of record: Record) -> PolicyValue {
        func value(_ property: some ColumnProperty<Record>) -> PolicyValue {
            record[keyPath: property.path].policyValue
        }
        return value(property)
    }

    /// Gives a record a value.
    ///
    /// - Precondition: The value is of the column's type; null is only where the property can be nil.
    package func set(_ value: PolicyValue, in record: inout Record) {
        func set<Property: ColumnProperty<Record>>(_ property: Property) {
            record[keyPath: property.path] = Property.Value(value)
        }
        set(property)
    }
}

extension PolicyRecord {
    /// The column that a property holds.
    ///
    /// - Precondition: The property has a column: it is neither an id nor the rows of another table.
    package static func column(_ path: PartialKeyPath<Self>) -> PolicyColumn<Self> {
        func isHeld(by property: some ColumnProperty<Self>) -> Bool { property.path == path }
        guard let column = columns.first(where: { isHeld(by: $0.property) }) else {
            preconditionFailure("\(path) is not a column of \(table.rawValue)")
        }
        return column
    }
}

// MARK: - The types of Swift that columns hold

extension ColumnContent {
    package init(_ value: PolicyValue) {
        let content: any Sendable =
            switch value {
            case .null: preconditionFailure("a column of \(Self.self) cannot hold null")
            case .text(let text): text.string
            case .texts(let texts): texts.map(\.string)
            case .boolean(let flag): flag
            case .integer(let number): number
            case .percentage(let percentage): percentage
            case .time(let time): time
            case .duration(let duration): duration
            case .attributes(let attributes):
                attributes.sorted { $0.key < $1.key }.map { AttributeCondition(name: $0.string, $1) }
            }
        guard let content = content as? Self else {
            preconditionFailure("a column of \(Self.self) cannot hold \(value)")
        }
        self = content
    }
}

extension String: ColumnContent {
    package var policyValue: PolicyValue { .text(UTF8Text(self)) }
}

extension Bool: ColumnContent {
    package var policyValue: PolicyValue { .boolean(self) }
}

extension Int64: ColumnContent {
    package var policyValue: PolicyValue { .integer(self) }
}

extension Int: ColumnContent {
    package init(_ value: PolicyValue) { self.init(Int64(value)) }
    package var policyValue: PolicyValue { .integer(Int64(self)) }
}

extension Percentage: ColumnContent {
    package var policyValue: PolicyValue { .percentage(self) }
}

extension Timestamp: ColumnContent {
    package var policyValue: PolicyValue { .time(self) }
}

extension DayTimeInterval: ColumnContent {
    package var policyValue: PolicyValue { .duration(self) }

    package init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(inMicroseconds)
    }
}

extension Optional: ColumnContent where Wrapped: ColumnContent {
    package init(_ value: PolicyValue) { self = value == .null ? nil : Wrapped(value) }
    package var policyValue: PolicyValue { self?.policyValue ?? .null }
}

extension Array: ColumnContent where Element: ListContent {
    package var policyValue: PolicyValue { Element.policyValue(of: self) }
}

package protocol ListContent: Sendable, Equatable, Codable {
    static func policyValue(of list: [Self]) -> PolicyValue
}

extension String: ListContent {
    package static func policyValue(of list: [String]) -> PolicyValue { .texts(list.map { UTF8Text($0) }) }
}

extension AttributeCondition: ListContent {
    package static func policyValue(of list: [AttributeCondition]) -> PolicyValue {
        .attributes(Dictionary(list.map { (UTF8Text($0.name), $0.values) }) { first, _ in first })
    }
}
