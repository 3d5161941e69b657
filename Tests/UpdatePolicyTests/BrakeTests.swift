import Foundation
import TestPolicies
import TestRandom
import Testing

@testable import UpdatePolicy

@Suite("Brake", .computing, .serialized)
struct BrakeTests {
    /// A message without what makes it a lockout, read from the JSON of an answer.
    private static func plain(_ answer: Answer) throws -> NSDictionary {
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let messages = try #require(object?["messages"] as? [[String: Any]])
        return ["messages": messages.map { $0.filter { $0.key != "lockout" && $0.key != "until" } }]
    }

    @Test("With the brake any client gets the same messages, none as a lockout, and all as before once it is off")
    func answers() throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("brake: seed \(seed)")
        var lockouts = 0
        for _ in 0..<60 {
            let policy = try CompiledPolicy(generator.policy(rules: 20))
            let braked = policy.sendingLockouts(false)
            let released = braked.sendingLockouts(true)
            for _ in 0..<20 {
                let client = try generator.client()
                let time = generator.time()
                let usual = policy.answer(to: client, at: time)
                let answer = braked.answer(to: client, at: time)
                lockouts += usual.lockouts
                #expect(try Self.plain(usual) == Self.plain(answer), "\(client) at \(time), seed \(seed)")
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(!text.contains(#""lockout""#) && !text.contains(#""until""#), "seed \(seed)")
                #expect(answer.lockouts == 0 && answer.sent.map(\.id) == usual.sent.map(\.id), "seed \(seed)")
                #expect(released.answer(to: client, at: time).body == usual.body, "seed \(seed)")
                let legacy = braked.answer(to: client, at: time, shape: .legacy)
                #expect(!String(decoding: legacy.body, as: UTF8.self).contains(#""lockout""#), "seed \(seed)")
                let plainMessages = policy.messages(for: client, at: time).map { message in
                    Message(
                        id: message.id, title: message.title, text: message.text, link: message.link,
                        hints: message.hints
                    )
                }
                #expect(braked.messages(for: client, at: time) == plainMessages, "seed \(seed)")
            }
        }
        #expect(lockouts > 20)
    }

    @Test("With the brake a policy announces what it would if no rule were a lockout")
    func announcements() throws {
        var generator = PolicyGenerator(.crowded, SeededGenerator())
        let seed = generator.random.seed
        print("brake, announcements: seed \(seed)")
        var floors = 0
        // Some more where chance has left out what matters.
        for round in 0..<3_000 where round < 150 || floors == 0 {
            let rows = generator.policy(rules: 20)
            var open = rows
            for index in open.rules.indices { open.rules[index].lockout = false }
            let policy = try CompiledPolicy(rows)
            let braked = policy.sendingLockouts(false)
            let plain = try CompiledPolicy(open)
            for _ in 0..<20 {
                let client = try generator.client()
                let time = generator.time()
                let said = braked.announcer(for: client, at: time)?.announcement()
                let expected = plain.announcer(for: client, at: time)?.announcement()
                floors += policy.announcer(for: client, at: time)?.announcement().floor == nil ? 0 : 1
                #expect(said?.floor == nil, "\(client) at \(time), seed \(seed)")
                #expect(said?.prompt?.version.text == expected?.prompt?.version.text, "seed \(seed)")
                #expect(said?.latest == expected?.latest, "seed \(seed)")
            }
        }
        #expect(floors > 0)
    }

    @Test("The brake changes no row, and shares all that was compiled")
    func updates() throws {
        let policy = try TestPolicy.policy([
            TestPolicy.rule("a") { ($0.lockout, $0.lockoutWithoutUpdate) = (true, true) }
        ])
        let braked = policy.sendingLockouts(false)
        #expect(braked.serialNumber != policy.serialNumber)
        #expect(braked.sendingLockouts(false) === braked)
        #expect(braked.policy == policy.policy)
        #expect(braked.sections.map(\.id) == policy.sections.map(\.id))
    }
}
