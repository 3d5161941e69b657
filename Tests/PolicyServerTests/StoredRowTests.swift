import Foundation
import TestRandom
import Testing
import UpdatePolicy

@testable import PolicyServer

@Suite("Stored rows")
struct StoredRowTests {
    private static func properties(of row: Any) -> Set<String> {
        Set(Mirror(reflecting: row).children.compactMap(\.label))
    }

    private func checkMembers<Row: StoredRow>(_ row: Row, but unstored: Set<String> = []) {
        let names = Row.members.map(\.name)
        // Lengths of time are stored as numbers of microseconds.
        let members = Set(names.map { $0.hasSuffix("Microseconds") ? String($0.dropLast("Microseconds".count)) : $0 })
        #expect(
            members == Self.properties(of: row).subtracting(unstored),
            "every property of \(Row.self) is a member, under its name"
        )
        #expect(Set(names).count == names.count)
    }

    @Test("Stored rows have every property of the rows but notes, so that none is lost on disk")
    func membersAreComplete() {
        checkMembers(App.blank, but: ["note"])
        checkMembers(StoreLink.blank)
        checkMembers(FeedTemplate.blank)
        checkMembers(ReleaseNote.blank)
        checkMembers(Release.blank, but: ["note"])
        checkMembers(Rule.blank, but: ["note"])
        checkMembers(StoredCondition.blank)
        #expect(
            Self.properties(of: StoredCondition.blank) == Self.properties(of: AttributeCondition(name: "", values: [])))
        checkMembers(RuleText.blank)
        checkMembers(RolloutStep.blank)
        checkMembers(LastGoodPolicyFile.Header.blank)
        checkMembers(LastGoodPolicyFile.Section.blank)
        // A policy is the header and the sections.
        #expect(
            Self.properties(of: LastGoodPolicyVectors.policy) == ["revision", "token", "apps", "releases", "rules"])
    }

    private static func read<Row: StoredRow>(_ json: String) throws -> Row {
        try JSONDecoder().decode(Row.self, from: Data(json.utf8))
    }

    @Test(
        "Stored rows are refused without what they are nothing without",
        arguments: [
            #"{"title":"t","text":"x"}"#, #"{"key":"r","text":"x"}"#, #"{"key":"r","title":"t"}"#,
            #"{"key":"r","title":"t","text":"x","attributes":[{"name":"a","values":{}}]}"#,
            #"{"key":"r","title":"t","text":"x","attributes":[{"name":"a","values":{"not":["b"],"nor":["c"]}}]}"#,
        ]
    )
    func requiredMembers(json: String) { #expect(throws: DecodingError.self) { let _: Rule = try Self.read(json) } }

    @Test("Stored rows are refused with a member that is not known, wherever it is, for it may be a condition")
    func unknownMembers() throws {
        #expect(throws: UnknownMember(name: "device")) {
            let _: Rule = try Self.read(#"{"key":"r","title":"t","text":"x","device":null}"#)
        }
        #expect(throws: UnknownMember(name: "until")) {
            let _: Rule = try Self.read(
                #"{"key":"r","title":"t","text":"x","steps":[{"at":"2026-03-01T00:00:00Z","rollout":1,"until":2}]}"#
            )
        }
    }

    @Test("Stored rows hold any choice of members, and give it back")
    func anyChoiceOfMembers() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        for rule in LastGoodPolicyVectors.policy.rules {
            let whole = try #require(
                try JSONSerialization.jsonObject(with: encoder.encode(rule)) as? [String: Any]
            )
            for _ in 0..<200 {
                let part = whole.filter { ["key", "title", "text"].contains($0.key) || random.chance(50) }
                let bytes = try JSONSerialization.data(withJSONObject: part, options: [.sortedKeys])
                let read = try JSONDecoder().decode(Rule.self, from: bytes)
                let again = try JSONSerialization.jsonObject(with: encoder.encode(read)) as? NSDictionary
                #expect(again == part as NSDictionary, "seed \(seed)")
            }
        }
    }
}
