import PolicyStore
import Postgres
import UpdatePolicy

/// A policy with its notes at one revision, and the change that brought it there.
struct EditedPolicy: Sendable {
    let version: PolicyVersion
    let change: PolicyChange?
    let policy: Policy
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
                    try PolicyHistory(session).revision(at: CommandClock(session).moment(time, of: option, .past))
                }
            var policy = try PolicyReader.editedPolicy(session, revision: revision)
            if let revision { policy.token = try PolicyHistory(session).version(of: revision).token }
            return EditedPolicy(
                version: PolicyVersion(revision: policy.revision, token: policy.token),
                change: try PolicyHistory(session).change(policy.revision), policy: policy
            )
        }
    }
}
