import UpdatePolicy

/// Lays out one record as a line per field; fields without a value are left out.
///
/// On a terminal, long values are broken at blanks; one with a word that has no room beside its name stands below it. Control characters are written out.
struct RecordText {
    private let fields: [RecordField]

    init(_ fields: [RecordField]) {
        self.fields = fields
    }

    /// The record for standard output, without a line break at its end.
    var text: String { text(for: .standardOutput) }

    /// The record, without a line break at its end.
    func text(for terminal: Terminal) -> String {
        let shown = fields.compactMap { field in field.value.map { (name: field.name, value: $0) } }
        let width = shown.map(\.name.count).max() ?? 0
        let indentation = "\n" + String(repeating: " ", count: width + 2)
        return shown.map { name, value in
            let text = value.visible(keepsNewlines: true)
            let room = terminal.width.map { max($0 - width - 2, 20) }
            let lines = room.map { text.wrapped(to: $0) }
            if let room, let whole = terminal.width, lines?.contains(where: { $0.terminalWidth > room }) == true {
                return terminal.styled(name, .bold) + "\n  " + text.wrapped(to: whole - 2).joined(separator: "\n  ")
            }
            return terminal.styled(name, .bold) + String(repeating: " ", count: width - name.count + 2)
                + (lines?.joined(separator: indentation) ?? text.replacing("\n", with: indentation))
        }.joined(separator: "\n")
    }
}
