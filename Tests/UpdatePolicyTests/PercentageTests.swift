import Testing
import UpdatePolicy

@Suite("Percentages")
struct PercentageTests {
    @Test(
        "A percentage has at most two decimals",
        arguments: [
            ("0", 0, "0"), ("100", 10_000, "100"), ("37.25", 3725, "37.25"), ("37.5", 3750, "37.5"),
            ("37.50%", 3750, "37.5"), ("0.01", 1, "0.01"), ("99.990", 9999, "99.99"), ("5%", 500, "5"),
            ("007", 700, "7"),
        ]
    )
    func reads(_ text: String, _ hundredths: Int, _ written: String) throws {
        let percentage = try #require(Percentage(text))
        #expect(percentage.hundredths == hundredths)
        #expect(percentage.description == written)
    }

    @Test(
        "Anything else is refused, never rounded",
        arguments: [
            "99.996", "33.335", "101", "100.01", "-1", "+1", "NaN", "", "%", ".5", "5.", "1e1", "5 %", "5%%", "1.2.3",
            "99999999999999999999",
        ]
    )
    func refuses(_ text: String) {
        #expect(Percentage(text) == nil)
    }
}
