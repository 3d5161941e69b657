/// A fault in a policy file: where it is, what it is, and what to do.
package struct PolicyFileFault: Error, Sendable, Hashable {
    package let position: FilePosition
    package let message: String
    package let hint: String?

    package init(_ position: FilePosition, _ message: String, hint: String? = nil) {
        (self.position, self.message, self.hint) = (position, message, hint)
    }

    /// The fault as compilers report theirs: `FILE:LINE:COLUMN: message`, and the hint on a line of its own.
    package func description(file: String) -> String {
        "\(file):\(position): \(message)" + (hint.map { "\nHint: \($0)" } ?? "")
    }
}

/// All faults that were found in a policy file: never none.
package struct PolicyFileFaults: Error, Sendable, Hashable {
    package let faults: [PolicyFileFault]
}

package struct FilePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let line: Int
    /// The column, counted from 1 in Unicode scalars.
    package let column: Int

    package init(line: Int, column: Int) {
        (self.line, self.column) = (line, column)
    }

    static let start = FilePosition(line: 1, column: 1)

    init(offset: Int, in bytes: [UInt8]) {
        let head = bytes.prefix(max(0, offset))
        let lineStart = head.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        line = 1 + head.count { $0 == UInt8(ascii: "\n") }
        // Every scalar has one byte that is not a continuation of another.
        column = 1 + head[lineStart...].count { $0 & 0xC0 != 0x80 }
    }

    package var description: String { "\(line):\(column)" }

    package static func < (left: FilePosition, right: FilePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// Shows what somebody wrote within a message.
enum Quoted {
    /// The text in quotation marks on one line, and not all of it if it is long.
    static func text(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(61)
        var line = "\""
        for scalar in shown.prefix(60) {
            line += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: false) : String(scalar)
        }
        return line + (shown.count > 60 ? "…\"" : "\"")
    }
}
