import FeedTemplates
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// A policy file that was read; errors name the file and the line.
struct PolicyFile: Sendable {
    /// The name as messages show it.
    private let name: String
    private let path: String
    /// The app that the file is about; nil: it is the whole policy.
    private let bundle: String?
    private let document: PolicyDocument
    /// The revision of which it was exported, as its first line says.
    private let origin: (revision: Int64, token: String)?

    /// What the file would do to the policy as it is.
    struct Plan: Sendable {
        let present: EditedPolicy
        let difference: PolicyDifference
        let takenBack: TakenBack
    }

    /// Reads the file, or standard input for `-`.
    init(_ path: String, bundle: String? = nil) throws {
        (self.path, self.bundle, name) = (path, bundle, InputFile.name(path))
        let bytes = try InputFile.contents(path, upTo: PolicyDocument.largestFile, what: "the policy file")
        origin = PolicyDocument.origin(bytes)
        do { document = try PolicyDocument(bytes) } catch { throw Self.error(error.faults, in: name) }
    }

    /// The rules of the file.
    var rules: [Rule] { document.policy.rules }

    /// Why the file may have been cut; nil if it ends with the mark of its end.
    var doubt: String? {
        document.hasEndMark
            ? nil
            : "\(name) does not end with the mark of YAML, so it may have been cut; check its end, and write as its last line: ..."
    }

    /// Compares the file with the policy, and finds the changes that it would take back, of those since the revision that it was
    /// exported from; of all where it does not say which, or where that was of another database.
    ///
    /// - Parameter revision: The revision that was planned for; nil: any.
    func plan(on database: DatabaseOptions, revision: Int64? = nil) async throws -> Plan {
        try await database.read { reports in
            let session = reports.session
            let present = try EditedPolicy(session)
            if let revision, revision != present.version.revision {
                throw error(.otherRevision(present.version.revision, expected: revision, change: present.change))
            }
            let difference = try difference(from: present.policy)
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

    /// - Throws: `CommandError` where the file lacks a required value, or has what is not of its app.
    private func difference(from present: Policy) throws -> PolicyDifference {
        let appFaults = bundle.map { document.faults(ofApp: $0, in: present) } ?? []
        guard appFaults.isEmpty else { throw Self.error(appFaults, in: name) }
        let difference = PolicyDifference(from: bundle.map { present.part(of: $0) } ?? present, to: document.policy)
        let faults = document.faults(of: difference) + templateFaults(difference)
        guard faults.isEmpty else { throw Self.error(faults, in: name) }
        return difference
    }

    /// The faults of the templates that the file changes; one that SQL wrote and that stays is not the file's.
    private func templateFaults(_ difference: PolicyDifference) -> [PolicyFileFault] {
        difference.edits.compactMap { edit in
            guard edit.table == .feedTemplates, let row = edit.after else { return nil }
            let template = FeedTemplate(
                name: row["name"].text ?? "", contentType: row["content_type"].text ?? "", body: row["body"].text ?? ""
            )
            do throws(FeedTemplateFault) {
                _ = try ParsedTemplate(template)
                return nil
            } catch {
                let position = document.position(table: .feedTemplates, index: edit.index, column: "body")
                return PolicyFileFault(
                    position ?? FilePosition(line: 1, column: 1),
                    "the feed \(template.name): line \(error.line), column \(error.column) of the body: \(error.message)",
                    hint: error.hint
                )
            }
        }
    }

    private static func error(_ faults: [PolicyFileFault], in name: String) -> CommandError {
        CommandError(
            faults.map { $0.description(file: name).visible(keepsNewlines: true) }.joined(separator: "\n")
        )
    }
}

// MARK: - What is not meant

extension PolicyFile {
    /// A command about the file.
    private func command(_ verb: String) -> PrintedCommand {
        PrintedCommand("\(verb) \(path.shellWord)\(scope)")
    }

    /// The option for the app.
    var scope: String { bundle.map { " --bundle \($0.shellWord)" } ?? "" }

    /// Warns where the file seems to be the part of one app, and is taken for the whole policy.
    func warnOfOneApp(in present: Policy, command: String) {
        guard bundle == nil, document.policy.apps.count == 1, present.apps.count > 1,
            let app = document.policy.apps.first
        else { return }
        CommandError(
            "\(name) has one app, and the policy has \(present.apps.count), of which the others go; did you mean --bundle: "
                + "\(PrintedCommand("\(command) \(path.shellWord) --bundle \(app.bundle.shellWord)"))"
        ).printAsWarning()
    }

    /// Refuses to take back what was done to stop harm.
    func requireNoBrakes(_ takenBack: TakenBack) throws {
        let brakes = takenBack.lines(takenBack.changes.filter(\.isBrake))
        guard !brakes.isEmpty else { return }
        throw CommandError(
            "\(name) would take back what was done to stop harm; nothing was changed:\n"
                + brakes.joined(separator: "\n").visible(keepsNewlines: true)
                + "\nWrite into the file what is to stay, from `\(PrintedCommand("export\(scope)"))`; if it is meant to be taken back, "
                + "repeat it with --over-brakes"
        )
    }

    /// Refuses to remove more than a tenth of the rules or releases of an app, and at least three, which is rather a file
    /// that was cut or is old than what was meant.
    func requireFewRemovals(_ plan: Plan) throws {
        let (removed, policy) = (plan.difference.edits.filter { $0.after == nil }, plan.present.policy)
        for (table, noun) in [(PolicyTable.rules, "rules"), (.releases, "releases")] {
            let totals = Dictionary(grouping: policy.rows(of: table)) { $0["bundle"].text }
            let gone = Dictionary(grouping: removed.filter { $0.table == table }) { $0.before?["bundle"].text }
            for (bundle, rows) in gone.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
                let total = totals[bundle]?.count ?? 0
                guard rows.count >= 3, rows.count * 10 > total else { continue }
                throw CommandError(
                    "\(name) would remove \(rows.count) of the \(total) \(noun) \(bundle.map { "of \($0)" } ?? "for every app"); "
                        + "nothing was changed; look at it with `\(PrintedCommand("plan \(path.shellWord)"))`, and if it is meant, "
                        + "repeat it with --removals"
                )
            }
        }
    }
}

// MARK: - What the database refuses

extension PolicyFile {
    /// Runs `body`, and reports refusals with the lines of the file.
    func explaining<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusals as PolicyRefusals {
            throw CommandError(refusals.refusals.map(description).joined(separator: "\n"))
        } catch let conflict as PolicyConflict {
            guard case .otherRevision = conflict else { throw conflict }
            throw error(conflict)
        }
    }

    private func error(_ conflict: PolicyConflict) -> CommandError {
        CommandError("\(conflict)\nNothing was changed. See what the file changes now: \(command("plan"))")
    }

    private func description(_ refusal: PolicyRefusal) -> String {
        let position = document.position(table: refusal.table, index: refusal.index, column: refusal.column)
        let location = position.map { "\(name):\($0)" } ?? name
        return "\(location): \(CommandError(refusal.error, in: .policyFile).description)"
    }
}

/// The changes that a policy file would take back.
struct TakenBack: Sendable {
    var changes: [TakenBackChange]
    var now: Timestamp?

    /// The most of them that are named, and the most parts of each.
    private static let (mostChanges, mostParts) = (20, 5)

    /// Whether any was made to stop harm.
    var hasBrakes: Bool { changes.contains(where: \.isBrake) }

    /// A line for each of some changes.
    func lines(_ changes: [TakenBackChange]) -> [String] {
        let lines = changes.prefix(Self.mostChanges).map { taken in
            let change = taken.change
            let more = taken.parts.count - Self.mostParts
            let parts =
                taken.parts.prefix(Self.mostParts).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
            return "  change \(change.id) by \(change.role)\(change.tool.map { " with \($0)" } ?? ""),"
                + " \(now.map { TimeText.local(change.at, from: $0) } ?? "\(change.at)"): \(parts)"
        }
        let more = changes.count - Self.mostChanges
        return lines + (more > 0 ? ["  and \(more) more"] : [])
    }

    /// All of them for people; nil: none.
    var text: String? {
        changes.isEmpty ? nil : "Takes back:\n" + lines(changes).joined(separator: "\n").visible(keepsNewlines: true)
    }

    /// For programs.
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

extension Policy {
    /// The part of one app.
    ///
    /// - Throws: `CommandError` if there is no such app.
    func part(ofApp bundle: String) throws -> Policy {
        let part = part(of: bundle)
        guard !part.apps.isEmpty else { throw CommandError.noSuchApp(bundle, among: apps.map(\.bundle)) }
        return part
    }
}
