import Testing
import UpdatePolicy

@Suite("Rule audience")
struct RuleAudienceTests {
    private func audience(_ change: (inout Rule) -> Void) -> String {
        var rule = Rule(key: "k", title: "T", text: "X")
        change(&rule)
        return rule.audience
    }

    @Test("The sentence names every condition, keeps the signs of ranges, quotes what could mislead, and cuts lists")
    func namesAll() {
        let regions = ["AT", "BE", "CH", "DE", "ES", "FR", "GB"]
        func channel(_ values: [String]) -> [AttributeCondition] {
            [AttributeCondition(name: "channel", values: values)]
        }
        for (expected, change) in [
            ("everyone", { _ in }), ("iOS, system <16", { ($0.platforms, $0.os) = (["ios"], "<16") }),
            ("below 1.2, language de or fr", { ($0.target, $0.languages) = ("1.2", ["de", "fr"]) }),
            (
                "2.0, build 77, iOS, DE or AT, channel beta",
                {
                    ($0.versions, $0.builds, $0.platforms, $0.regions) = ("=2.0", "=77", ["ios"], ["DE", "AT"])
                    $0.attributes = channel(["beta"])
                }
            ),
            (">=1.0 <2.0", { $0.versions = ">=1.0 <2.0" }), ("=1.x", { $0.versions = "=1.x" }),
            ("build <100", { $0.builds = "<100" }),
            ("channel \"beta, DE\" or a", { $0.attributes = channel(["beta, DE", "a"]) }),
            (
                "tier not staff or \"V I P\", stamp >=45 <60",
                {
                    $0.attributes = [
                        AttributeCondition(name: "tier", .not(["staff", "V I P"])),
                        AttributeCondition(name: "stamp", .range(">=45 <60")),
                    ]
                }
            ),
            ("AT, BE, CH, DE, ES or 2 more", { $0.regions = regions }),
            ("AT, BE, CH, DE, ES or FR", { $0.regions = Array(regions.prefix(6)) }),
        ] as [(String, (inout Rule) -> Void)] {
            #expect(audience(change) == expected)
        }
    }

    @Test("Each column that is a condition on clients is in the sentence")
    func followsColumns() {
        // The app has a column of its own in lists, and a soak only delays.
        for column in Rule.columns where column.role == .condition && !["bundle", "soak"].contains(column.name) {
            let audience = audience { rule in
                switch column.type {
                case .texts, .platforms: column.set(.texts(["x"]), in: &rule)
                case .attributes: column.set(.attributes(["x": .among(["y"])]), in: &rule)
                default: column.set(.text("2"), in: &rule)
                }
            }
            #expect(audience != "everyone", "\(column.name)")
        }
    }
}
