import FeedTemplates
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// A policy file that was read; errors name the file and the line.
struct PolicyFile: Sendable {
    private let path: String
    /// The app that the file is about; nil: it is the whole policy.
    private let bundle: String?
    private let document: PolicyDocument
    /// The revision of which it was exported, as its first line says.
    private let origin: (revision: Int64, token: String)?

    struct Plan: Sendable {
        let present: Policy
        let difference: PolicyDifference
        let takenBack: TakenBack
    }

    init(_ path: String, bundle: String? = nil) throws {
        (self.path, self.bundle) = (path, bundle)
        let bytes = try InputFile.contents(path, upTo: PolicyDocument.largestFile, what: "the policy file")
        origin = PolicyDocument.origin(bytes)
        do { document = try PolicyDocument(bytes) } catch { throw Self.error(error.faults, in: path) }
    }

    private var name: String { InputFile.name(path) }

    var rules: [Rule] { document.policy.rules }

    /// Says that the file may have been cut; nil if it ends with the mark of its end.
    var cut: String? {
        document.hasEndMark
            ? nil
            : "\(name) does not end with YAML's end mark, so it may have been cut off; check its end, and write as its last line: ..."
    }

    /// Compares the file with the policy, and finds the changes that it would take back, of those since the revision that it was
    /// exported from; of all where it does not say which, or where that was of another database.
    func plan(on database: DatabaseOptions, revision: Int64? = nil) async throws -> Plan {
        try await explaining {
            try await database.read { reports in
                let session = reports.session
                let present = try PolicyReader.editedPolicy(session)
                if let revision, revision != present.revision {
                    let change = try reports.history.change(present.revision)
                    throw PolicyConflict.otherRevision(present.revision, expected: revision, change: change)
                }
                let difference = try difference(from: present)
                guard !difference.edits.isEmpty else {
                    return Plan(present: present, difference: difference, takenBack: TakenBack(changes: []))
                }
                let known = try origin.flatMap { origin in
                    try TakenBackChange.isKnown(origin.revision, token: origin.token, session) ? origin.revision : nil
                }
                let changes = try TakenBackChange.all(in: difference, from: present.version, since: known ?? 0, session)
                let takenBack = TakenBack(changes: changes, now: try CommandClock(session).now)
                return Plan(present: present, difference: difference, takenBack: takenBack)
            }
        }
    }

    private func difference(from present: Policy) throws -> PolicyDifference {
        let appFaults = bundle.map { document.faults(ofApp: $0, in: present) } ?? []
        guard appFaults.isEmpty else { throw Self.error(appFaults, in: path) }
        let difference = PolicyDifference(from: bundle.map { present.part(of: $0) } ?? present, to: document.policy)
        let faults = document.faults(of: difference) + templateFaults(difference)
        guard faults.isEmpty else { throw Self.error(faults, in: path) }
        return difference
    }

    /// The faults of the templates that the file changes; one that SQL wrote and that stays is not the file's.
    private func templateFaults(_ difference: PolicyDifference) -> [PolicyFileFault] {
        difference.edits.compactMap { edit in
            guard edit.table == .feedTemplates, let row = edit.after else { return nil }
            let template = FeedTemplate(
                name: row["name"].text ?? "", contentType: row["content_type"].text ?? "", body: row["body"].text ?? ""
            )
            guard let fault = template.fault else { return nil }
            let position = document.position(table: .feedTemplates, index: edit.index, column: "body")
            return PolicyFileFault(
                position ?? FilePosition(line: 1, column: 1),
                "the feed \(template.name): line \(fault.line), column \(fault.column) of the body: \(fault.message)",
                hint: fault.hint
            )
        }
    }

    private static func error(_ faults: [PolicyFileFault], in path: String) -> CommandError {
        CommandError(faults.map { $0.description(file: InputFile.name(path)) }.joined(separator: "\n"))
    }

    var scope: String { bundle.map { " --bundle \($0.shellWord)" } ?? "" }

    /// Warns where the file seems to be the part of one app, and is taken for the whole policy.
    func warnOfOneApp(in present: Policy, command: String) {
        guard bundle == nil, document.policy.apps.count == 1, present.apps.count > 1,
            let app = document.policy.apps.first
        else { return }
        warn(
            "\(name) has one app, but the policy has \(present.apps.count); the others would be removed; did you mean --bundle: "
                + "\(PrintedCommand("\(command) \(path.shellWord) --bundle \(app.bundle.shellWord)"))"
        )
    }

    func requireNoBrakes(_ takenBack: TakenBack) throws {
        let brakes = takenBack.lines(takenBack.changes.filter(\.isBrake))
        guard !brakes.isEmpty else { return }
        throw CommandError(
            "\(name) would take back what was done to stop harm; nothing was changed:\n"
                + brakes.joined(separator: "\n").visible(keepsNewlines: true)
                + "\nWrite what should stay into the file (see `\(PrintedCommand("export\(scope)"))`); to take it back anyway, "
                + "repeat this with --over-brakes"
        )
    }

    /// Refuses to remove more than a tenth of the rules or releases of an app, and at least three, which is rather a file
    /// that was cut or is old than what was meant.
    func requireFewRemovals(_ plan: Plan) throws {
        let (removed, policy) = (plan.difference.edits.filter { $0.after == nil }, plan.present)
        for (table, noun) in [(PolicyTable.rules, "rules"), (.releases, "releases")] {
            let totals = Dictionary(grouping: policy.rows(of: table)) { $0["bundle"].text }
            let gone = Dictionary(grouping: removed.filter { $0.table == table }) { $0.before?["bundle"].text }
            for (bundle, rows) in gone.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
                let total = totals[bundle]?.count ?? 0
                guard rows.count >= 3, rows.count * 10 > total else { continue }
                throw CommandError(
                    "\(name) would remove \(rows.count) of the \(total) \(noun) \(bundle.map { "of \($0)" } ?? "for every app"); "
                        + "nothing was changed; check it with `\(PrintedCommand("plan \(path.shellWord)"))`; if it is intended, "
                        + "repeat it with --removals"
                )
            }
        }
    }

    func explaining<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusals as PolicyRefusals {
            throw CommandError(refusals.refusals.map(description).joined(separator: "\n"))
        } catch let conflict as PolicyConflict {
            guard case .otherRevision(_, _, let change) = conflict else { throw conflict }
            let newest = change.map { "\nThe newest change: \(ChangeText.line($0, on: .file))" } ?? ""
            throw CommandError(
                "\(conflict)\(newest)\nNothing was changed. See what the file changes now: "
                    + "\(PrintedCommand("plan \(path.shellWord)\(scope)"))"
            )
        }
    }

    private func description(_ refusal: PolicyRefusal) -> String {
        let position = document.position(table: refusal.table, index: refusal.index, column: refusal.column)
        let location = position.map { "\(name):\($0)" } ?? name
        return "\(location): \(CommandError(refusal.error, isInFile: true).description)"
    }
}

struct TakenBack: Sendable {
    var changes: [TakenBackChange]
    var now: Timestamp?

    /// The most of them that are named, and the most parts of each.
    private static let (mostChanges, mostParts) = (20, 5)

    var hasBrakes: Bool { changes.contains(where: \.isBrake) }

    func lines(_ changes: [TakenBackChange]) -> [String] {
        let lines = changes.prefix(Self.mostChanges).map { taken in
            let change = taken.change
            let more = taken.parts.count - Self.mostParts
            let parts =
                taken.parts.prefix(Self.mostParts).map(Self.words(ofPart:)).joined(separator: ", ")
                + (more > 0 ? " and \(more) more" : "")
            return "  change \(change.id) by \(change.role)\(change.tool.map { " with \($0)" } ?? ""),"
                + " \(now.map { TimeText.local(change.at, from: $0) } ?? "\(change.at)"): \(parts)"
        }
        let more = changes.count - Self.mostChanges
        return lines + (more > 0 ? ["  and \(more) more"] : [])
    }

    /// A part as people read it: `rule k: enabled` for `rules k: enabled`.
    private static func words(ofPart part: String) -> String {
        let table = part.prefix { $0 != " " }
        return ChangeFormatter.noun(String(table)) + part.dropFirst(table.count)
    }

    var text: String? {
        changes.isEmpty ? nil : "Takes back:\n" + lines(changes).joined(separator: "\n").visible(keepsNewlines: true)
    }

    var json: JSONValue {
        .array(
            changes.map { taken in
                [
                    "id": taken.change.id, "at": taken.change.at, "role": taken.change.role, "tool": taken.change.tool,
                    "parts": taken.parts, "is_brake": taken.isBrake,
                ]
            }
        )
    }
}
