import UpdatePolicy

/// A value that the file of the last good policy holds as a JSON object.
///
/// The members of a record of the policy are its columns, under their stored names; neither the names nor the order of
/// Swift's properties decide the format, which ``LastGoodPolicyFile`` describes.
protocol StoredRow: Sendable {
    /// A row in which every member has its default.
    static var blank: Self { get }

    /// The members, each with the property that it holds. A test checks that every stored property but notes has one.
    static var members: [StoredMember<Self>] { get }
}

struct StoredMember<Row: StoredRow>: Sendable {
    /// The member's name in the file, for ever.
    let name: String

    fileprivate let write: @Sendable (Row, inout KeyedEncodingContainer<StoredName>) throws -> Void
    fileprivate let read: @Sendable (inout Row, KeyedDecodingContainer<StoredName>) throws -> Void

    /// - Parameters:
    ///   - value: What is written; nil: the member is left out.
    ///   - take: Takes over what was read; not called where the member is missing.
    private init<Value: Codable & Sendable>(
        _ name: String,
        isRequired: Bool = false,
        value: @escaping @Sendable (Row) -> Value?,
        take: @escaping @Sendable (Value, inout Row) -> Void
    ) {
        self.name = name
        write = { try $1.encodeIfPresent(value($0), forKey: StoredName(name)) }
        read = { row, container in
            if isRequired {
                take(try container.decode(Value.self, forKey: StoredName(name)), &row)
            } else if let value = try container.decodeIfPresent(Value.self, forKey: StoredName(name)) {
                take(value, &row)
            }
        }
    }

    /// A member without which a row means nothing.
    static func required<Value: Codable & Sendable>(_ name: String, _ path: any WritableKeyPath<Row, Value> & Sendable)
        -> Self
    {
        Self(name, isRequired: true, value: { $0[keyPath: path] }, take: { $1[keyPath: path] = $0 })
    }

    /// A member that is left out where it is what ``StoredRow/blank`` has.
    static func optional<Value: Codable & Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Value> & Sendable
    ) -> Self {
        Self(
            name, value: { $0[keyPath: path] == Row.blank[keyPath: path] ? nil : $0[keyPath: path] },
            take: { $1[keyPath: path] = $0 }
        )
    }

    /// A list of rows, left out where it is empty.
    static func rows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]> & Sendable
    ) -> Self {
        Self(
            name, value: { $0[keyPath: path].isEmpty ? nil : $0[keyPath: path].map { Stored(row: $0) } },
            take: { $1[keyPath: path] = $0.map(\.row) }
        )
    }

    /// A list of rows, left out where there is none; an empty one is something else.
    static func optionalRows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]?> & Sendable
    ) -> Self {
        Self(name, value: { $0[keyPath: path]?.map { Stored(row: $0) } }, take: { $1[keyPath: path] = $0.map(\.row) })
    }

    /// A row, left out where there is none.
    static func row<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Element?> & Sendable
    ) -> Self {
        Self(name, value: { $0[keyPath: path].map { Stored(row: $0) } }, take: { $1[keyPath: path] = $0.row })
    }
}

extension StoredMember where Row: PolicyRecord {
    /// The members for all columns that servers read.
    static var columns: [StoredMember<Row>] { Row.columns.filter { $0.role != .note }.map(Self.column) }

    private static func column(_ column: PolicyColumn<Row>) -> Self {
        func member(_ property: some ColumnProperty<Row>) -> Self {
            column.defaultValue == nil
                ? .required(column.storedName, property.path) : .optional(column.storedName, property.path)
        }
        if let attributes = column.property as? PolicyColumn<Row>.Property<[AttributeCondition]?> {
            return .optionalRows(column.storedName, attributes.path)
        }
        if let duration = column.property as? PolicyColumn<Row>.Property<DayTimeInterval?> {
            return .microseconds(column.storedName, duration.path)
        }
        return member(column.property)
    }

    /// A length of time in microseconds, left out where it is none.
    private static func microseconds(
        _ name: String,
        _ path: any WritableKeyPath<Row, DayTimeInterval?> & Sendable
    ) -> Self {
        Self(
            name, value: { row in row[keyPath: path].map(\.inMicroseconds).flatMap { $0 == 0 ? nil : $0 } },
            take: { $1[keyPath: path] = $0 == 0 ? nil : DayTimeInterval(microseconds: $0) }
        )
    }
}

// MARK: - The rows of a policy

extension App: StoredRow {
    static let members: [StoredMember<App>] =
        StoredMember.columns + [.rows("storeLinks", \.storeLinks), .rows("feedTemplates", \.feedTemplates)]
}

extension StoreLink: StoredRow {
    static let members: [StoredMember<StoreLink>] = StoredMember.columns
}

extension FeedTemplate: StoredRow {
    static let members: [StoredMember<FeedTemplate>] = StoredMember.columns
}

extension ReleaseNote: StoredRow {
    static let members: [StoredMember<ReleaseNote>] = StoredMember.columns
}

extension Release: StoredRow {
    static let members: [StoredMember<Release>] =
        [.required("id", \.id)] + StoredMember.columns + [.rows("notes", \.notes)]
}

extension Rule: StoredRow {
    static let members: [StoredMember<Rule>] =
        StoredMember.columns + [.rows("texts", \.texts), .rows("steps", \.steps)]
}

extension RuleText: StoredRow {
    static let members: [StoredMember<RuleText>] = StoredMember.columns
}

extension RolloutStep: StoredRow {
    static let members: [StoredMember<RolloutStep>] = StoredMember.columns
}

extension AttributeCondition: StoredRow {
    static let blank = AttributeCondition(name: "", values: [])
    static let members: [StoredMember<AttributeCondition>] = [.required("name", \.name), .required("values", \.values)]
}

// MARK: - Coding

/// A row on its way to JSON, or from there.
struct Stored<Row: StoredRow>: Codable, Sendable {
    let row: Row

    init(row: Row) {
        self.row = row
    }

    /// Reads a row: members that are missing have their defaults, and a member that is not known is refused.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: StoredName.self)
        let members = Row.members
        if let unknown = container.allKeys.first(where: { key in !members.contains { $0.name == key.stringValue } }) {
            throw UnknownMember(name: unknown.stringValue)
        }
        var row = Row.blank
        for member in members { try member.read(&row, container) }
        self.row = row
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: StoredName.self)
        for member in Row.members { try member.write(row, &container) }
    }
}

struct StoredName: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.init(stringValue)
    }

    init?(intValue: Int) {
        nil
    }
}

/// A member that this version does not know: a later version wrote the file, and what the member means, a condition for
/// instance, cannot be left out.
struct UnknownMember: Error, Equatable {
    let name: String
}
