// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A value that the file of the last good policy holds as a JSON object.
///
/// What the file looks like is said here and nowhere else: neither the names nor the order of Swift's properties decide
/// it. ``PolicyFile`` tells the format.
protocol StoredRow: Sendable {
    /// A row in which every member has its default.
    static var blank: Self { get }

    /// The members, each with the property that it holds. Every stored property is held by one, which a test looks at.
    static var members: [StoredMember<Self>] { get }
}

/// A member of a ``StoredRow``.
struct StoredMember<Row: StoredRow>: Sendable {
    /// The member's name in the file, for ever.
    let name: String

    fileprivate let write: @Sendable (Row, inout KeyedEncodingContainer<StoredName>) throws -> Void
    fileprivate let read: @Sendable (inout Row, KeyedDecodingContainer<StoredName>) throws -> Void

    private init(
        _ name: String,
        write: @escaping @Sendable (Row, inout KeyedEncodingContainer<StoredName>) throws -> Void,
        read: @escaping @Sendable (inout Row, KeyedDecodingContainer<StoredName>) throws -> Void
    ) {
        self.name = name
        self.write = write
        self.read = read
    }

    /// A member without which a row means nothing.
    static func required<Value: Codable & Sendable>(_ name: String, _ path: any WritableKeyPath<Row, Value> & Sendable)
        -> Self
    {
        Self(
            name,
            write: { try $1.encode($0[keyPath: path], forKey: StoredName(name)) },
            read: { $0[keyPath: path] = try $1.decode(Value.self, forKey: StoredName(name)) }
        )
    }

    /// A member that is left out where it is what ``StoredRow/blank`` has.
    static func optional<Value: Codable & Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Value> & Sendable
    ) -> Self {
        Self(
            name,
            write: { row, container in
                guard row[keyPath: path] != Row.blank[keyPath: path] else { return }
                try container.encode(row[keyPath: path], forKey: StoredName(name))
            },
            read: { row, container in
                guard let value = try container.decodeIfPresent(Value.self, forKey: StoredName(name)) else { return }
                row[keyPath: path] = value
            }
        )
    }

    /// A list of rows, left out where it is empty.
    static func rows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]> & Sendable
    ) -> Self {
        Self(
            name,
            write: { row, container in
                guard !row[keyPath: path].isEmpty else { return }
                try container.encode(row[keyPath: path].map { Stored(row: $0) }, forKey: StoredName(name))
            },
            read: { row, container in
                let rows = try container.decodeIfPresent([Stored<Element>].self, forKey: StoredName(name))
                row[keyPath: path] = rows?.map(\.row) ?? []
            }
        )
    }

    /// A list of rows, left out where there is none; an empty one is something else.
    static func optionalRows<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, [Element]?> & Sendable
    ) -> Self {
        Self(
            name,
            write: { row, container in
                guard let rows = row[keyPath: path] else { return }
                try container.encode(rows.map { Stored(row: $0) }, forKey: StoredName(name))
            },
            read: { row, container in
                let rows = try container.decodeIfPresent([Stored<Element>].self, forKey: StoredName(name))
                row[keyPath: path] = rows?.map(\.row)
            }
        )
    }

    /// A row, left out where there is none.
    static func row<Element: StoredRow>(
        _ name: String,
        _ path: any WritableKeyPath<Row, Element?> & Sendable
    ) -> Self {
        Self(
            name,
            write: { row, container in
                guard let element = row[keyPath: path] else { return }
                try container.encode(Stored(row: element), forKey: StoredName(name))
            },
            read: { row, container in
                row[keyPath: path] = try container.decodeIfPresent(Stored<Element>.self, forKey: StoredName(name))?.row
            }
        )
    }
}

/// A row on its way to JSON, or from there.
struct Stored<Row: StoredRow>: Codable {
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

/// The name of a member.
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
