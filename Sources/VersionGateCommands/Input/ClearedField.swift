// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import ArgumentParser
import PolicyStore
import UpdatePolicy

/// A record of the policy that a command edits, some of whose columns can be cleared.
protocol EditableRecord: PolicyRecord {
    /// The fields that can be cleared, in the order in which they are listed.
    static var clearedFields: [ClearedField<Self>] { get }
}

/// A column that `--clear` sets to its default, or a table of which it removes the record's rows.
struct ClearedField<Record: EditableRecord>: Hashable, Sendable, CustomStringConvertible {
    /// The name of the option.
    let description: String
    private let column: ColumnDefinition?

    fileprivate init(_ column: ColumnDefinition, option: String? = nil) {
        self.column = column
        description = (option ?? column.name).replacing("_", with: "-")
    }

    fileprivate init(rowsOf table: PolicyTable) {
        column = nil
        description = table.rawValue.replacing("_", with: "-")
    }

    /// The column with its default; nil for rows.
    var value: ColumnValue? { column.map { .cleared($0) } }

    /// Refuses an edit that changes nothing, or both sets and clears a column.
    ///
    /// - Parameters:
    ///   - given: The columns of the options that were given.
    ///   - changesRows: Whether other options change rows of other tables.
    ///   - examples: Some of the options, for the message.
    static func requireChange(
        _ given: [String],
        changesRows: Bool = false,
        clear: [Self],
        examples: String
    ) throws {
        if given.isEmpty, !changesRows, clear.isEmpty {
            throw ValidationError("Say what to change, for example \(examples).")
        }
        if let both = clear.compactMap(\.value?.column).first(where: given.contains) {
            throw ValidationError("\(both) is both set and cleared; leave one of the two out.")
        }
    }
}

extension ClearedField: ExpressibleByArgument, CaseIterable {
    static var allCases: [Self] { Record.clearedFields }

    init?(argument: String) {
        guard let field = Self.allCases.first(where: { $0.description == argument }) else { return nil }
        self = field
    }
}

extension Rule: EditableRecord {
    /// Conditions first. Flags have options that set them back, and the rollout has a command of its own. An option that
    /// gives one of several values has its name in the singular.
    static let clearedFields: [ClearedField<Rule>] = {
        let columns = Self.columns.map(\.definition).filter { column in
            column.defaultValue != nil && column.type != .boolean && column.type != .percentage
        }
        return [ColumnRole.condition, .message, .order, .note, .schedule].flatMap { role in
            columns.filter { $0.role == role }
        }.map { column in
            let isList = [.texts, .platforms, .attributes].contains(column.type)
            return ClearedField(column, option: isList ? String(column.name.dropLast()) : column.name)
        }
    }()
}

extension Release: EditableRecord {
    /// Not the build, which identifies a row of a release.
    static let clearedFields: [ClearedField<Release>] = columns.map(\.definition).filter { column in
        column.defaultValue != nil && column.type != .boolean && column.name != "build"
    }.map { ClearedField($0) }
}

extension App: EditableRecord {
    /// The links in the stores are rows of their own.
    static let clearedFields: [ClearedField<App>] =
        columns.map(\.definition).filter { $0.defaultValue != nil && $0.type != .boolean }.map { ClearedField($0) }
        + [.storeLinks]
}

extension ClearedField<App> {
    /// All links of an app in the stores.
    static var storeLinks: Self { Self(rowsOf: .storeLinks) }
}
