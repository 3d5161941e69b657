import PolicyStore
import Postgres
import UpdatePolicy

/// What the rules of a page are now, as the database says it: nothing else decides it.
struct RuleStatuses: Sendable {
    let byKey: [String: RuleStatus]
    /// Why they are not known; nil: they are.
    let fault: String?
}

extension RuleStatuses {
    /// Reads what some rules are, if the policy that the page shows is the one that the database has.
    init(of rules: [Rule], in policy: Policy, _ session: PostgresSession) throws {
        let read = try CountReader(session).attempt { _ in
            try PolicyReader.version(session).token == policy.token
                ? RuleStatus.all(session, keys: rules.map(\.key)) : nil
        }
        switch read {
        case .success(let statuses?): (byKey, fault) = (statuses, nil)
        case .success(nil): (byKey, fault) = ([:], "the database has another revision than the one that answers")
        case .failure(let error): (byKey, fault) = ([:], error.message)
        }
    }
}

extension Result {
    /// Why there is no value; nil: there is one.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
