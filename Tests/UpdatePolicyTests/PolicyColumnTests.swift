import Testing
import UpdatePolicy

@Suite("Record columns")
struct PolicyColumnTests {
    /// A value that no column has by default.
    private static func sample(_ column: ColumnDefinition) throws -> PolicyValue {
        switch column.type {
        case .text, .key, .bundle, .language, .platform, .version, .range: .text("e\u{301}")
        case .texts, .platforms: .texts(["b", "a"])
        case .boolean: .boolean(true)
        case .integer: .integer(.min)
        case .bigInteger: .integer(.max)
        case .percentage: .percentage(try #require(Percentage(hundredths: 3_725)))
        case .time: .time(Timestamp(microsecondsSince1970: 1))
        case .duration: .duration(DayTimeInterval(days: 2, microseconds: -1))
        case .attributes: .attributes(["e\u{301}": .among(["b", "a"]), "\u{E9}": .not(["c"]), "r": .range("<1")])
        }
    }

    private static func properties(of record: Any) -> [String: String] {
        let properties = Mirror(reflecting: record).children.map { ($0.label ?? "", String(reflecting: $0.value)) }
        return Dictionary(uniqueKeysWithValues: properties)
    }

    private func check<Record: PolicyRecord>(_: Record.Type, but others: Set<String> = []) throws {
        let blank = Self.properties(of: Record.blank)
        var held: Set<String> = []
        for column in Record.columns {
            if let usual = column.defaultValue { #expect(column.value(of: Record.blank) == usual) }
            let value = try Self.sample(column.definition)
            var record = Record.blank
            column.set(value, in: &record)
            #expect(column.value(of: record) == value, "\(column.name)")
            let changed = Self.properties(of: record).filter { blank[$0.key] != $0.value }.map(\.key)
            #expect(changed.count == 1, "\(column.name) is one property of \(Record.self)")
            held.formUnion(changed)
            if let usual = column.defaultValue {
                column.set(usual, in: &record)
                #expect(record == Record.blank, "\(column.name)")
            }
        }
        #expect(held.union(others) == Set(blank.keys), "every property of \(Record.self) is a column")
        #expect(held.isDisjoint(with: others))
        #expect(Set(Record.columns.map(\.name)).count == Record.columns.count)
        #expect(Set(Record.columns.map(\.storedName)).count == Record.columns.count)
        #expect(Record.table.columns.map(\.name).suffix(Record.columns.count) == Record.columns.map(\.name)[...])
        #expect(!Record.table.identity.isEmpty)
    }

    @Test(
        "The columns of a record are all its properties, each gives back what it was given, and null and defaults are those of a blank record"
    )
    func columnsAreComplete() throws {
        try check(App.self, but: ["storeLinks", "feedTemplates"])
        try check(StoreLink.self)
        try check(FeedTemplate.self)
        try check(Release.self, but: ["id", "notes"])
        try check(ReleaseNote.self)
        try check(Rule.self, but: ["texts", "steps"])
        try check(RuleText.self)
        try check(RolloutStep.self)
    }

    @Test("The columns of a record tell rows of a table apart by those that people know them by")
    func identity() {
        let names = PolicyTable.allCases.map { "\($0.rawValue) " + $0.identity.map(\.name).joined(separator: " ") }
        #expect(
            names == [
                "apps bundle", "store_links bundle platform", "feed_templates bundle name",
                "releases bundle version platform", "release_notes release language", "rules key",
                "rule_texts rule language", "rollout_steps rule at",
            ]
        )
    }
}
