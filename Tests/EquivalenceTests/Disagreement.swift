import TestPolicies
import UpdatePolicy

/// A policy and a check that SQL and the engine do not answer alike.
struct Disagreement: Sendable, CustomStringConvertible {
    let policy: Policy
    let timeZone: String
    let check: Check
    let specification: Answer
    /// What the engine answers, or the error in its place.
    let engine: Result<Answer, EngineFailure>

    /// The engine gave no answer.
    struct EngineFailure: Error {
        let description: String
    }

    /// A script for psql that asks SQL the same, and both answers.
    var description: String {
        let client = PolicyScript.text(check.client.json)
        let time = PolicyScript.text(check.time.description)
        let engineAnswer =
            switch engine {
            case .success(let answer): answer.description
            case .failure(let failure): failure.description
            }
        return """
            SQL and the engine disagree.
            BEGIN;
            SET LOCAL TimeZone = '\(timeZone)';
            \(PolicyScript(policy).text)
            SELECT * FROM messages_for(\(client), \(time));
            SELECT * FROM explain_check(\(client), \(time));
            SELECT * FROM versiongate_internal.rule_status_at(ARRAY[\(time)::timestamptz]);
            ROLLBACK;
            -- SQL
            \(specification)
            -- Engine
            \(engineAnswer)
            """
    }
}
