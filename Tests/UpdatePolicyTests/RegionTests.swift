import Testing
import UpdatePolicy

@Suite("Regions")
struct RegionTests {
    @Test("There are 249 assigned codes and XK")
    func count() {
        #expect(Region.all.count == 250)
        #expect(Set(Region.all.map(\.code)).count == 250)
        #expect(Region.all.allSatisfy { Region(code: $0.code) == $0 })
        #expect(Region.all.map(\.code) == Region.all.map(\.code).sorted())
    }

    @Test(
        "What is no assigned code in upper case is no rule's region",
        arguments: ["jp", "Jp", "UK", "EN", "EU", "Japan", "JPN", "J", "", "ja_JP", "ja-JP", " JP", "ÄÖ"]
    )
    func refused(_ code: String) {
        #expect(Region(code: code) == nil)
    }
}
