import Testing
import UpdatePolicy

@Suite("Range words")
struct VersionRangeWordsTests {
    @Test(
        "A range is told by its bounds",
        arguments: [
            ("*", "every version that can be read"),
            ("<1.2", "before 1.2"),
            (">=1.2", "1.2 or later"),
            (">1.2", "later than 1.2"),
            ("<=1.2", "not later than 1.2"),
            ("=1.2", "exactly 1.2"),
            ("1.2-beta", "exactly 1.2-beta"),
            ("1", "exactly 1.0"),
            ("1.2b3", "exactly 1.2-b.3"),
            (">=2.3 <2.3.5", "2.3 or later, but before 2.3.5"),
            ("1.2.x", "1.2 or later, pre-releases of 1.2 included, but before 1.3 and its pre-releases"),
            ("~1.2", "1.2 or later, but before 1.3 and its pre-releases"),
            ("1.0 || 1.2", "exactly 1.0; or exactly 1.2"),
            ("<1.4 || >=1.2", "every version that can be read"),
            (">1.2-beta", "later than 1.2-beta"),
            ("1.2 - 1.4", "1.2 or later, but not later than 1.4"),
            ("<10.0.1-beta.11", "before 10.0.1-beta.11"),
            (">=1.2.3.4.5.6.7.8.9.10-abc.12.def", "1.2.3.4.5.6.7.8.9.10-abc.12.def or later"),
        ]
    )
    func words(_ range: String, _ words: String) {
        #expect(VersionRange(range)?.inWords == words)
    }

    @Test(
        "What is easily missed about an upper bound is told",
        arguments: [
            ("<=11", ["11.0.1 is later than 11.0; all of 11.0 is <=11.0.x"]),
            ("1.2 - 1.4.1", ["1.4.1.1 is later than 1.4.1; all of 1.4.1 is <=1.4.1.x"]),
            ("<12", ["pre-releases of 12.0, such as 12.0-beta, are before it"]),
            (
                "<1.2 || >=2 <3 || 5",
                [
                    "pre-releases of 1.2, such as 1.2-beta, are before it",
                    "pre-releases of 3.0, such as 3.0-beta, are before it",
                ]
            ),
            ("=1.2", []), ("1.2.x", []), (">=1.2", []), ("*", []), ("<1.2-beta", []), ("<=1.2-beta", []),
        ] as [(String, [String])]
    )
    func remarks(_ range: String, _ remarks: [String]) {
        #expect(VersionRange(range)?.remarks == remarks)
    }
}
