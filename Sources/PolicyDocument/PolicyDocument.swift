package import UpdatePolicy

/// The contents of a policy file: the policy, and the position of each row in the file.
package struct PolicyDocument: Sendable {
    struct Positions: Sendable {
        let row: FilePosition
        var columns: [String: FilePosition] = [:]
    }

    /// The format version that this program reads and writes: the value of the key `versiongate`.
    package static let format = 1
    package static let largestFile = 16 << 20

    /// The policy with its notes, in the order of the file; of no revision.
    package let policy: Policy
    /// Whether the file ends with the mark of YAML, `...`: one that was cut does not.
    package let hasEndMark: Bool
    /// The positions of the rows of each table, in the order of ``policy``.
    private var positions: [PolicyTable: [Positions]]

    private mutating func keepPositions(_ rows: [PolicyTable: [FileRow]]) {
        for (table, rows) in rows {
            positions[table, default: []] += rows.map(\.positions)
            for row in rows { keepPositions(row.children) }
        }
    }

    /// The position of a row, or of a column of it, in the file.
    ///
    /// - Parameters:
    ///   - index: The row's index among those of the table in ``policy``; nil for the beginning of the file.
    ///   - column: The column; where the file does not have it, the position of the row is returned.
    package func position(table: PolicyTable?, index: Int?, column: String?) -> FilePosition? {
        guard let table, let index, let positions = positions[table], positions.indices.contains(index) else {
            return nil
        }
        return column.flatMap { positions[index].columns[$0] } ?? positions[index].row
    }
}

extension PolicyDocument {
    /// Reads a policy file.
    /// - Throws: ``PolicyFileFaults`` with all faults that could be found.
    package init(_ contents: [UInt8]) throws(PolicyFileFaults) {
        // libyaml would count the mark that some programs put before UTF-8 as a column.
        let bytes = contents.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(contents.dropFirst(3)) : contents
        let root: YAMLNode?
        do throws(PolicyFileFault) {
            if let fault = Self.fault(of: bytes) { throw fault }
            (root, hasEndMark) = try YAMLReader.document(bytes)
        } catch {
            throw PolicyFileFaults(faults: [error])
        }
        var reader = PolicyDocumentReader()
        reader.read(root)
        guard reader.faults.isEmpty else {
            throw PolicyFileFaults(faults: reader.faults.sorted { $0.position < $1.position })
        }
        policy = Policy(reader.rows)
        positions = [:]
        keepPositions(reader.rows)
    }

    /// What keeps bytes from being a text that is read.
    private static func fault(of bytes: [UInt8]) -> PolicyFileFault? {
        guard bytes.count <= largestFile else {
            return PolicyFileFault(
                .start, "the file has \(bytes.count) bytes, more than the \(largestFile) that are read",
                hint: "Shorten the notes, or edit with the command line."
            )
        }
        let start = bytes.prefix(2)
        let isUTF16 =
            start == [0xFF, 0xFE] || start == [0xFE, 0xFF] || start.count == 2 && start.count { $0 == 0 } == 1
        let invalid = isUTF16 ? nil : bytes.firstInvalidUTF8
        guard isUTF16 || invalid != nil else { return nil }
        let what = invalid.map { "not UTF-8: the byte 0x\(String(bytes[$0], radix: 16, uppercase: true))" }
        return PolicyFileFault(
            invalid.map { FilePosition(offset: $0, in: bytes) } ?? .start, what ?? "the file is UTF-16",
            hint: "Save the file in UTF-8."
        )
    }
}

extension PolicyDocument {
    /// What the file must say before a difference can be applied.
    ///
    /// - Parameter difference: The edits that turn the present policy into this one.
    /// - Returns: The faults; none if the difference can be tried.
    package func faults(of difference: PolicyDifference) -> [PolicyFileFault] {
        difference.edits.compactMap { edit in
            // Nobody can say which moment it was: a file that did not name it would be different at once.
            guard edit.table == .releases, let before = edit.before, let after = edit.after,
                before["staged"] == .boolean(true), after["staged"] == .boolean(false), after["live_at"] == .null
            else { return nil }
            return PolicyFileFault(
                position(table: .releases, index: edit.index, column: nil) ?? .start,
                "release \(after["version"].text ?? ""): it is no longer staged, and has no live_at, so nobody is offered it",
                hint: "Write when everybody became able to get it: live_at: 2026-03-01T12:00:00Z"
            )
        }
    }
}

extension PolicyDocument {
    /// What keeps the file from being the part of one app.
    /// - Returns: The faults, in the order of the file: other apps, their rules, rules for every app, and keys that rules
    ///   outside of the app have.
    package func faults(ofApp bundle: String, in present: Policy) -> [PolicyFileFault] {
        let part = policy.part(of: bundle)
        let ownApps = Set(part.apps.map { UTF8Text($0.bundle) })
        let ownRules = Set(part.rules.map { UTF8Text($0.key) })
        let presentRules = Set(present.part(of: bundle).rules.map { UTF8Text($0.key) })
        let takenKeys = Set(present.rules.map { UTF8Text($0.key) }).subtracting(presentRules)
        let hint =
            "With --bundle the file covers \(Quoted.text(bundle)) only. Remove this entry, or leave out --bundle so that"
            + " the file is the whole policy."
        let apps = policy.apps.enumerated().compactMap { index, app in
            ownApps.contains(UTF8Text(app.bundle))
                ? nil
                : PolicyFileFault(at(.apps, index), "the app \(Quoted.text(app.bundle)) is another app", hint: hint)
        }
        let rules = policy.rules.enumerated().compactMap { index, rule -> PolicyFileFault? in
            let key = Quoted.text(rule.key)
            guard ownRules.contains(UTF8Text(rule.key)) else {
                let whose = rule.bundle.map { "of the app \(Quoted.text($0))" } ?? "for every app"
                return PolicyFileFault(at(.rules, index), "the rule \(key) is \(whose)", hint: hint)
            }
            guard takenKeys.contains(UTF8Text(rule.key)) else { return nil }
            let message = "there is already a rule \(key), and it does not belong to this app"
            return PolicyFileFault(at(.rules, index), message, hint: "Choose another key.")
        }
        return (apps + rules).sorted { $0.position < $1.position }
    }

    private func at(_ table: PolicyTable, _ index: Int) -> FilePosition {
        position(table: table, index: index, column: nil) ?? .start
    }
}

extension [UInt8] {
    /// The offset of the first byte that is not part of UTF-8; nil if all are.
    fileprivate var firstInvalidUTF8: Int? {
        guard String(validating: self, as: UTF8.self) == nil else { return nil }
        var offset = 0
        var decoder = Unicode.UTF8.ForwardParser()
        var iterator = makeIterator()
        while true {
            switch decoder.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .error: return offset
            case .emptyInput: return nil
            }
        }
    }
}
