import UpdatePolicy

/// A value that the file of the last good policy holds as a JSON object.
///
/// The members of a record of the policy are its columns, under their stored names; neither the names nor the order of
/// Swift's properties decide the format, which ``LastGoodPolicyFile`` describes.
protocol StoredRow: Sendable, Equatable {
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

    /// A member that holds what `wrap` makes of a property.
    ///
    /// - Parameter isRequired: Whether a row means nothing without it; else it is left out where it is what
    ///   ``StoredRow/blank`` has.
    private init<Value: Equatable & Sendable, Content: Codable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Value> & Sendable,
        isRequired: Bool,
        wrap: @escaping @Sendable (Value) -> Content,
        unwrap: @escaping @Sendable (Content) -> Value
    ) {
        self.name = name
        let key = StoredName(name)
        write = { row, container in
            let value = row[keyPath: path]
            if isRequired || value != Row.blank[keyPath: path] { try container.encode(wrap(value), forKey: key) }
        }
        read = { row, container in
            if !isRequired {
                guard container.contains(key), try !container.decodeNil(forKey: key) else { return }
            }
            row[keyPath: path] = unwrap(try container.decode(Content.self, forKey: key))
        }
    }

    static func value<Value: Codable & Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Value> & Sendable,
        isRequired: Bool = false
    ) -> Self {
        Self(name, path, isRequired: isRequired, wrap: { $0 }, unwrap: { $0 })
    }

    static func rows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]> & Sendable
    ) -> Self {
        Self(name, path, isRequired: false, wrap: { $0.map { Stored(row: $0) } }, unwrap: { $0.map(\.row) })
    }

    /// Rows, or none, which is something else than an empty list.
    static func optionalRows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]?> & Sendable
    ) -> Self {
        Self(name, path, isRequired: false, wrap: { $0?.map { Stored(row: $0) } }, unwrap: { $0?.map(\.row) })
    }

    static func row<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Element?> & Sendable
    ) -> Self {
        Self(name, path, isRequired: false, wrap: { $0.map { Stored(row: $0) } }, unwrap: { $0?.row })
    }
}

extension StoredMember where Row: PolicyRecord {
    /// The members for all columns that servers read.
    static var columns: [StoredMember<Row>] { Row.columns.filter { $0.role != .note }.map(Self.column) }

    private static func column(_ column: PolicyColumn<Row>) -> Self {
        func member(_ property: some ColumnProperty<Row>) -> Self {
            .value(column.storedName, property.path, isRequired: column.defaultValue == nil)
        }
        if let attributes = column.property as? PolicyColumn<Row>.Property<[AttributeCondition]?> {
            return .optionalRows(column.storedName, attributes.path)
        }
        if let duration = column.property as? PolicyColumn<Row>.Property<DayTimeInterval?> {
            // Of no time, as format 1 had it, is none.
            return Self(
                column.storedName, duration.path, isRequired: false, wrap: { (duration: DayTimeInterval?) in duration },
                unwrap: { $0?.inMicroseconds == 0 ? nil : $0 }
            )
        }
        return member(column.property)
    }
}

// MARK: - The rows of a policy

extension App: StoredRow {
    static let members: [StoredMember<App>] =
        StoredMember.columns + [.rows("storeLinks", \.storeLinks), .rows("feedTemplates", \.feedTemplates)]
}

extension StoreLink: StoredRow {
    static let members = StoredMember<StoreLink>.columns
}

extension FeedTemplate: StoredRow {
    static let members = StoredMember<FeedTemplate>.columns
}

extension ReleaseNote: StoredRow {
    static let members = StoredMember<ReleaseNote>.columns
}

extension Release: StoredRow {
    static let members: [StoredMember<Release>] =
        [.value("id", \.id, isRequired: true)] + StoredMember.columns + [.rows("notes", \.notes)]
}

extension Rule: StoredRow {
    static let members: [StoredMember<Rule>] =
        StoredMember.columns + [.rows("texts", \.texts), .rows("steps", \.steps)]
}

extension RuleText: StoredRow {
    static let members = StoredMember<RuleText>.columns
}

extension RolloutStep: StoredRow {
    static let members = StoredMember<RolloutStep>.columns
}

extension AttributeCondition: StoredRow {
    static let blank = AttributeCondition(name: "", values: [])
    static let members: [StoredMember<AttributeCondition>] = [
        .value("name", \.name, isRequired: true), .value("values", \.values, isRequired: true),
    ]
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
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { nil }
}

/// A member that this version does not know: a later version wrote the file, and what the member means, a condition for
/// instance, cannot be left out.
struct UnknownMember: Error, Equatable {
    let name: String
}
