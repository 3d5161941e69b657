import FeedTemplates
import PolicyDocument
import PolicyStore
import Postgres
import UpdatePolicy

/// A policy file that was read; errors name the file and the line.
struct PolicyFile: Sendable {
    /// The name as messages show it.
    let name: String
    /// The path as it was given.
    private let path: String
    /// The app that the file is about; nil: it is the whole policy.
    private let bundle: String?
    private let document: PolicyDocument
    /// The revision of which it was exported, as its first line says.
    private let origin: (revision: Int64, token: String)?

    /// Reads the file, or standard input for `-`.
    ///
    /// - Parameter bundle: The app that the file is about; nil: it is the whole policy.
    init(_ path: String, bundle: String? = nil) throws {
        self.path = path
        self.bundle = bundle
        name = InputFile.name(path)
        let bytes = try InputFile.contents(path, upTo: PolicyDocument.largestFile, what: "the policy file")
        origin = PolicyDocument.origin(bytes)
        do {
            document = try PolicyDocument(bytes)
        } catch {
            throw CommandError(
                error.faults.map { [name] in $0.description(file: name).visible(keepsNewlines: true) }.joined(
                    separator: "\n"
                )
            )
        }
    }

    /// The edits that turn a policy into that of the file.
    ///
    /// - Throws: `CommandError` where the file lacks a required value, or has what is not of its app.
    func difference(from present: Policy) throws -> PolicyDifference {
        if let bundle { try report(document.faults(ofApp: bundle, in: present)) }
        let difference = PolicyDifference(from: bundle.map { present.part(of: $0) } ?? present, to: document.policy)
        try report(document.faults(of: difference) + templateFaults(difference))
        return difference
    }

    /// Why the file may have been cut; nil if it ends with the mark of its end.
    var doubt: String? {
        document.hasEndMark
            ? nil
            : "\(name) does not end with the mark of YAML, so it may have been cut; check its end, and write as its last line: ..."
    }

    /// The rules of the file.
    var rules: [Rule] { document.policy.rules }

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

    /// The changes that the file would take back, of those since the revision that it was exported from; of all where it does
    /// not say which, or where that was of another database.
    func takenBack(
        _ difference: PolicyDifference,
        from version: PolicyVersion,
        _ database: DatabaseOptions
    ) async throws -> TakenBack {
        guard !difference.edits.isEmpty else { return TakenBack(changes: []) }
        return try await database.read { reports in
            let session = reports.session
            let known = try origin.flatMap { origin in
                try TakenBackChange.isKnown(origin.revision, token: origin.token, session) ? origin.revision : nil
            }
            return TakenBack(
                changes: try TakenBackChange.all(in: difference, from: version, since: known ?? 0, session),
                now: try CommandClock(session).now
            )
        }
    }

    /// Refuses to take back what was done to stop harm.
    func requireNoBrakes(_ takenBack: TakenBack) throws {
        let brakes = takenBack.lines(takenBack.changes.filter(\.isBrake))
        guard !brakes.isEmpty else { return }
        let scope = bundle.map { " --bundle \($0.shellWord)" } ?? ""
        throw CommandError(
            "\(name) would take back what was done to stop harm; nothing was changed:\n"
                + brakes.joined(separator: "\n").visible(keepsNewlines: true)
                + "\nWrite into the file what is to stay, from `\(PrintedCommand("export\(scope)"))`; if it is meant to be taken back, "
                + "repeat it with --over-brakes"
        )
    }

    /// Refuses to remove more than a tenth of the rules or releases of an app, and at least three, which is rather a file
    /// that was cut or is old than what was meant.
    func requireFewRemovals(_ difference: PolicyDifference, from present: Policy) throws {
        let removed = difference.edits.filter { $0.after == nil }
        for (table, noun, all) in [
            (PolicyTable.rules, "rules", present.rules.map(\.bundle)),
            (.releases, "releases", present.releases.map { Optional($0.bundle) }),
        ] {
            let totals = Dictionary(grouping: all) { $0 }.mapValues(\.count)
            let gone = Dictionary(grouping: removed.filter { $0.table == table }) { $0.before?["bundle"].text }
                .mapValues(\.count)
            for (bundle, count) in gone.sorted(by: { ($0.key ?? "") < ($1.key ?? "") }) {
                guard count >= Self.fewestRemovals, count * 10 > totals[bundle] ?? 0 else { continue }
                throw CommandError(
                    "\(name) would remove \(count) of the \(totals[bundle] ?? 0) \(noun) \(bundle.map { "of \($0)" } ?? "for every app"); "
                        + "nothing was changed; look at it with `\(PrintedCommand("plan \(path.shellWord)"))`, and if it is meant, "
                        + "repeat it with --removals"
                )
            }
        }
    }

    /// How many rows must go before a tenth of them is many.
    private static let fewestRemovals = 3

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

    private func report(_ faults: [PolicyFileFault]) throws {
        guard faults.isEmpty else {
            throw CommandError(
                faults.map { $0.description(file: name).visible(keepsNewlines: true) }.joined(separator: "\n")
            )
        }
    }

    /// Runs `body`, and reports refusals with the lines of the file.
    func explaining<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let refusals as PolicyRefusals {
            throw CommandError(refusals.refusals.map(description).joined(separator: "\n"))
        } catch let conflict as PolicyConflict {
            guard case .otherRevision = conflict else { throw conflict }
            throw commandError(conflict)
        }
    }

    /// The error for a policy that has changed, with what to do.
    func commandError(_ conflict: PolicyConflict) -> CommandError {
        CommandError(
            "\(conflict)\nNothing was changed. See what the file changes now: "
                + "\(PrintedCommand("plan \(path.shellWord)\(bundle.map { " --bundle \($0.shellWord)" } ?? "")"))"
        )
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
