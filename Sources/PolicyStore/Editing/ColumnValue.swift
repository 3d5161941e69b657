// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Postgres
public import UpdatePolicy

/// A column with the value to set or to match.
///
/// Values that PostgreSQL judges (numbers with decimals, times, durations, JSON) go as the text that the user wrote, so
/// that the database alone refuses values, and its message quotes what was written.
public struct ColumnValue: Sendable {
    /// The column's name; never from user input.
    public let column: String
    let parameter: (any PostgresEncodable)?
    /// The SQL types of the parameter: the one it is sent as, and the one it is cast to.
    let cast: String

    private init(_ column: String, _ parameter: (any PostgresEncodable)?, cast: String) {
        self.column = column
        self.parameter = parameter
        self.cast = cast
    }

    /// The same value for a column of another name.
    public func renamed(_ column: String) -> ColumnValue { ColumnValue(column, parameter, cast: cast) }

    /// Text.
    public static func text(_ column: String, _ value: String?) -> ColumnValue {
        ColumnValue(column, value, cast: "text")
    }

    /// A list of texts.
    public static func texts(_ column: String, _ value: [String]?) -> ColumnValue {
        ColumnValue(column, value, cast: "text[]")
    }

    /// True or false.
    public static func boolean(_ column: String, _ value: Bool) -> ColumnValue {
        ColumnValue(column, value, cast: "boolean")
    }

    /// A whole number.
    public static func integer(_ column: String, _ value: Int64?) -> ColumnValue {
        ColumnValue(column, value, cast: "bigint")
    }

    /// A number with decimals, as written.
    public static func numeric(_ column: String, _ value: String?) -> ColumnValue {
        ColumnValue(column, value, cast: "text::numeric")
    }

    /// A time in ISO 8601 with an offset.
    public static func time(_ column: String, _ value: String?) -> ColumnValue {
        ColumnValue(column, value, cast: "text::timestamptz")
    }

    /// A duration as PostgreSQL reads it: `2 days`, `36h`.
    public static func duration(_ column: String, _ value: String?) -> ColumnValue {
        ColumnValue(column, value, cast: "text::interval")
    }

    /// A JSON document.
    public static func json(_ column: String, _ value: String?) -> ColumnValue {
        ColumnValue(column, value, cast: "text::jsonb")
    }

    /// A column with its default, which is null for most.
    ///
    /// - Precondition: The column has a default.
    public static func cleared(_ column: ColumnDefinition) -> ColumnValue {
        switch (column.type, column.defaultValue) {
        case (.texts, _), (.platforms, _): .texts(column.name, nil)
        case (.attributes, _): .json(column.name, nil)
        case (.duration, _): .duration(column.name, nil)
        case (.time, _): .time(column.name, nil)
        case (.percentage, .percentage(let percentage)): .numeric(column.name, percentage.description)
        case (.integer, .integer(let number)): .integer(column.name, number)
        case (.integer, _), (.bigInteger, _): .integer(column.name, nil)
        case (.boolean, .boolean(let flag)): .boolean(column.name, flag)
        default: .text(column.name, nil)
        }
    }
}
