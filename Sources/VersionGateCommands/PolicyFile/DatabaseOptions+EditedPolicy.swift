import PolicyStore
import Postgres
import UpdatePolicy

/// A policy with its notes at one revision, and the change that brought it there.
struct EditedPolicy: Sendable {
    let version: PolicyVersion
    let change: PolicyChange?
    let policy: Policy

    /// - Parameter revision: The policy as it stood at this revision; nil: today's.
    init(_ session: PostgresSession, revision: Int64? = nil) throws {
        let (policy, history) = (try PolicyReader.editedPolicy(session, revision: revision), try PolicyHistory(session))
        let token = try revision.map { try history.version(of: $0).token } ?? policy.token
        (version, self.policy) = (PolicyVersion(revision: policy.revision, token: token), policy)
        change = try history.change(policy.revision)
    }
}

/// A state of the policy in the past: a revision, or a time.
enum PolicyMoment: Sendable {
    case revision(Int64)
    case time(TimeArgument)

    /// Reads a revision or a time.
    static func parse(_ argument: String) throws -> PolicyMoment {
        if let revision = Int64(argument), revision >= 0, !argument.hasPrefix("+") { return .revision(revision) }
        return .time(try TimeArgument.parse(argument))
    }
}

extension DatabaseOptions {
    /// Reads all that people edit, as one moment's state.
    ///
    /// - Parameters:
    ///   - moment: Which state; nil: today's.
    ///   - option: The option that said so.
    func editedPolicy(at moment: PolicyMoment? = nil, of option: String = "--to") async throws -> EditedPolicy {
        try await read { reports in
            let session = reports.session
            let revision: Int64? =
                switch moment {
                case nil: nil
                case .revision(let revision): revision
                case .time(let time):
                    try PolicyHistory(session).revision(at: CommandClock(session).moment(time, of: option))
                }
            return try EditedPolicy(session, revision: revision)
        }
    }
}
