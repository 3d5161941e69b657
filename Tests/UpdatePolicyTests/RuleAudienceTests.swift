import Testing
import UpdatePolicy

@Suite("Rule audience")
struct RuleAudienceTests {
    private func audience(_ change: (inout Rule) -> Void) -> String {
        var rule = Rule(key: "k", title: "T", text: "X")
        change(&rule)
        return rule.audience
    }

    @Test("The sentence names every condition, and says everyone only where there is none")
    func namesAll() {
        let all = audience {
            $0.versions = "=2.0"
            $0.builds = "=77"
            $0.platforms = ["ios"]
            $0.regions = ["DE", "AT"]
            $0.attributes = [AttributeCondition(name: "channel", values: ["beta"])]
        }
        #expect(all == "2.0, build 77, iOS, DE and AT, channel beta")
        #expect(audience { _ in } == "everyone")
        #expect(
            audience {
                $0.platforms = ["ios"]; $0.os = "<16"
            } == "iOS, system <16"
        )
        #expect(
            audience {
                $0.target = "1.2"; $0.languages = ["de", "fr"]
            } == "below 1.2, language de and fr"
        )
    }

    @Test("Each column that is a condition on clients is in the sentence")
    func followsColumns() {
        // The app has a column of its own in lists, and a soak only delays.
        for column in Rule.columns where column.role == .condition && !["bundle", "soak"].contains(column.name) {
            let audience = audience { rule in
                switch column.type {
                case .texts, .platforms: column.set(.texts(["x"]), in: &rule)
                case .attributes: column.set(.attributes(["x": ["y"]]), in: &rule)
                default: column.set(.text("2"), in: &rule)
                }
            }
            #expect(audience != "everyone", "\(column.name)")
        }
    }

    @Test("A range keeps its signs unless it is one version, and a value that could mislead is quoted")
    func keepsMeaning() {
        #expect(audience { $0.versions = ">=1.0 <2.0" } == ">=1.0 <2.0")
        #expect(audience { $0.versions = "=1.x" } == "=1.x")
        #expect(audience { $0.builds = "<100" } == "build <100")
        let quoted = audience {
            $0.attributes = [AttributeCondition(name: "channel", values: ["beta, DE", "a"])]
        }
        #expect(quoted == "channel \"beta, DE\" and a")
    }

    @Test("A long list is cut, and says how much is left out")
    func cutsLists() {
        let regions = ["AT", "BE", "CH", "DE", "ES", "FR", "GB"]
        #expect(audience { $0.regions = regions } == "AT, BE, CH, DE, ES and 2 more")
        #expect(audience { $0.regions = Array(regions.prefix(6)) } == "AT, BE, CH, DE, ES and FR")
    }
}
