import Foundation
import UpdatePolicy

extension Answer {
    /// The answer of the engine, with what the oracle says of the rules.
    ///
    /// - Parameter statuses: The oracle of the policy; nil: a new one.
    /// - Throws: `AnswerBytesError` where the bytes it would send say something else than its messages.
    init(
        _ policy: CompiledPolicy,
        _ client: Client,
        at time: Timestamp,
        _ statuses: StatusOracle? = nil
    ) throws {
        messages = policy.messages(for: client, at: time).map { message in
            [
                UTF8Text(message.id), UTF8Text(message.title), UTF8Text(message.text),
                message.link.map { UTF8Text($0) },
                message.lockout ? "true" : "false", message.until.map { UTF8Text(String($0)) },
                message.hints?.remind.map { UTF8Text(String($0)) }, message.hints?.shows.map { UTF8Text(String($0)) },
                message.hints?.skip ?? false ? "true" : "false", message.hints?.target.map { UTF8Text($0) },
            ]
        }
        explanations = policy.explain(client, at: time).map { row in
            [
                UTF8Text(String(row.position)), UTF8Text(row.key), UTF8Text(row.outcome.rawValue),
                row.condition.map { UTF8Text($0) }, row.expected.map { UTF8Text($0) }, row.actual.map { UTF8Text($0) },
                row.bucket.map { UTF8Text(String($0)) }, UTF8Text(row.rollout.description),
                row.release.map { UTF8Text($0) },
            ]
        }
        self.statuses = (statuses ?? StatusOracle(policy.policy)).rows(at: time)
        for shape in [AnswerShape.standard, .legacy] {
            let answer = policy.answer(to: client, at: time, shape: shape)
            let document = String(decoding: answer.body, as: UTF8.self)
            let expected = shape == .legacy ? messages.map { $0.prefix(6) + [nil, nil, "false", nil] } : messages
            guard try Self.messages(in: answer.body, shape) == expected else {
                throw AnswerBytesError(document: document)
            }
            guard answer.sent.map({ UTF8Text(policy.key(of: $0.id)) }) == messages.map(\.first),
                answer.sent.map({ $0.lockout ? "true" : "false" }) == messages.map({ $0[4] })
            else { throw AnswerBytesError(document: document) }
        }
    }

    /// The messages that a document holds; `nil` where it has not exactly the members of an answer.
    private static func messages(in bytes: [UInt8], _ shape: AnswerShape) throws -> [Row]? {
        guard let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { return nil }
        if shape == .legacy, document.isEmpty { return [] }
        guard document.count == 1, let messages = document["messages"] as? [[String: Any]] else { return nil }
        if shape == .legacy, messages.isEmpty { return nil }
        let textName = shape == .legacy ? "message" : "text"
        var rows: [Row] = []
        for message in messages {
            guard let id = message["id"] as? String, let title = message["title"] as? String,
                let text = message[textName] as? String
            else { return nil }
            let link = message["link"] as? String
            let lockout = message["lockout"] as? Bool
            let until = message["until"] as? Int
            let numbers = [message["remind"] as? Int, message["shows"] as? Int]
            let skip = message["skip"] as? Bool
            let target = message["target"] as? String
            let optional: [Any?] = [link, lockout, until, numbers[0], numbers[1], skip, target]
            guard message.count == 3 + optional.count(where: { $0 != nil }), lockout != false, skip != false else {
                return nil
            }
            rows.append(
                [
                    UTF8Text(id), UTF8Text(title), UTF8Text(text), link.map { UTF8Text($0) },
                    lockout == nil ? "false" : "true", until.map { UTF8Text(String($0)) },
                ] + numbers.map { $0.map { UTF8Text(String($0)) } }
                    + [skip == nil ? "false" : "true", target.map { UTF8Text($0) }]
            )
        }
        return rows
    }
}
