package import PolicyStore
package import UpdatePolicy

/// What is told to people and programs, as a value. Text, JSON, Markdown and HTML are made from it elsewhere.
package struct Report: Sendable {
    package var parts: [Part]
    /// The time that distances are from: `25 s ago`.
    package let now: Timestamp

    package init(at now: Timestamp, _ parts: [Part]) { (self.parts, self.now) = (parts, now) }

    /// A list: for programs an array.
    package init(at now: Timestamp, _ table: Table) { self.init(at: now, [.table(table)]) }

    package enum Part: Sendable {
        /// What follows, and the name by which an address leads there.
        case heading(String, id: String)
        case text(Sentence)
        case note(Note)
        case fields([Field])
        case table(Table)
        case chart(Chart)
        case changes([PolicyChange], ifEmpty: String)
        case edits([Edit])
    }

    /// Something that whoever reads should know.
    package struct Note: Sendable {
        package enum Kind: String, Sendable {
            case lockout
            case fault
            case warning
            case hint
        }

        package let kind: Kind
        package let text: Sentence
        /// The command or SQL that mends it.
        package let remedy: String?

        package init(_ kind: Kind, _ text: Sentence, remedy: String? = nil) {
            (self.kind, self.text, self.remedy) = (kind, text, remedy)
        }
    }

    package struct Field: Sendable {
        /// For people; nil: for programs only.
        package let title: String?
        /// The member for programs; nil: for people only.
        package let json: String?
        package let cell: Cell

        package init(_ title: String?, json: String? = nil, _ cell: Cell) {
            (self.title, self.json, self.cell) = (title, json, cell)
        }

        /// For programs alone.
        package static func members(_ members: KeyValuePairs<String, (any JSONConvertible)?>) -> [Field] {
            members.map { Field(nil, json: $0, .data($1)) }
        }
    }

    /// A way to change what is told of.
    package struct Edit: Sendable {
        package let what: String
        /// As a whole: `versiongate undo 4`.
        package let command: String
        package let sql: String?

        package init(_ what: String, command: String, sql: String? = nil) {
            self.what = what
            self.command = PrintedCommand.text(command)
            self.sql = sql
        }
    }
}
