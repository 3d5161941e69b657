import UpdatePolicy

/// A value that the file of the last good policy holds as a JSON object.
///
/// The members of a record of the policy are its columns, under their stored names; neither the names nor the order of
/// Swift's properties decide the format, which ``LastGoodPolicyFile`` describes.
protocol StoredRow: Codable, Equatable, Sendable {
    /// A row in which every member has its default.
    static var blank: Self { get }

    /// The members, each with the property that it holds. A test checks that every stored property but notes has one.
    static var members: [StoredMember<Self>] { get }
}

extension StoredRow {
    /// Reads a row: members that are missing have their defaults, and a member that is not known is refused.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: StoredName.self)
        let members = Self.members
        if let unknown = container.allKeys.first(where: { key in !members.contains { $0.name == key.stringValue } }) {
            throw UnknownMember(name: unknown.stringValue)
        }
        self = .blank
        for member in members { try member.read(&self, container) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: StoredName.self)
        for member in Self.members { try member.write(self, &container) }
    }
}

struct StoredMember<Row: StoredRow>: Sendable {
    /// The member's name in the file, for ever.
    let name: String

    fileprivate let write: @Sendable (Row, inout KeyedEncodingContainer<StoredName>) throws -> Void
    fileprivate let read: @Sendable (inout Row, KeyedDecodingContainer<StoredName>) throws -> Void

    /// A member that holds a property.
    ///
    /// - Parameter isRequired: Whether a row means nothing without it; else it is left out where it is what
    ///   ``StoredRow/blank`` has.
    init<Value: Codable & Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Value> & Sendable,
        isRequired: Bool = false
    ) {
        self.init(name, path, isRequired: isRequired, wrap: { $0 }, unwrap: { $0 })
    }

    /// A member that holds what `wrap` makes of a property.
    fileprivate init<Value: Equatable & Sendable, Content: Codable & Sendable>(
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
}

extension StoredMember where Row: PolicyRecord {
    /// The members for all columns that servers read.
    static var columns: [StoredMember<Row>] { Row.columns.filter { $0.role != .note }.map(Self.column) }

    private static func column(_ column: PolicyColumn<Row>) -> Self {
        func member(_ property: some ColumnProperty<Row>) -> Self {
            Self(column.storedName, property.path, isRequired: column.defaultValue == nil)
        }
        if let attributes = column.property as? PolicyColumn<Row>.Property<[AttributeCondition]?> {
            return Self(
                column.storedName, attributes.path, isRequired: false, wrap: { $0?.map(StoredCondition.init) },
                unwrap: { $0?.map { AttributeCondition(name: $0.name, $0.values) } }
            )
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

// MARK: - The rows of a policy

extension App: StoredRow {
    static let members: [StoredMember<App>] =
        StoredMember.columns + [
            StoredMember("storeLinks", \.storeLinks), StoredMember("feedTemplates", \.feedTemplates),
        ]
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
        [StoredMember("id", \.id, isRequired: true)] + StoredMember.columns + [StoredMember("notes", \.notes)]
}

extension Rule: StoredRow {
    static let members: [StoredMember<Rule>] =
        StoredMember.columns + [StoredMember("texts", \.texts), StoredMember("steps", \.steps)]
}

extension RuleText: StoredRow {
    static let members = StoredMember<RuleText>.columns
}

extension RolloutStep: StoredRow {
    static let members = StoredMember<RolloutStep>.columns
}

/// An ``AttributeCondition``, whose own coding would leave out what it does not know.
struct StoredCondition: StoredRow {
    static let blank = StoredCondition(AttributeCondition(name: "", values: []))
    static let members: [StoredMember<StoredCondition>] = [
        StoredMember("name", \.name, isRequired: true), StoredMember("values", \.values, isRequired: true),
    ]

    var name: String
    var values: AcceptedValues

    init(_ condition: AttributeCondition) {
        (name, values) = (condition.name, condition.values)
    }
}
