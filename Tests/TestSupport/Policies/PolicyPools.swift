package import UpdatePolicy

/// The small pools that random policies draw from, so that rules and clients meet at their boundaries.
///
/// Without a word, those of ``nearMisses``, which come near what the database refuses and near what a client is.
package struct PolicyPools: Sendable {
    /// The pools of the comparison of SQL with the engine.
    package static let nearMisses = PolicyPools()

    package var bundles = ["com.example.doto", "com.example.Other"]
    package var appNames = ["Doto", "{target}", "{target}", "{app}", "D\"ot\\o\u{E9}"]
    package var platforms = ["ios", "android", "macos"]
    package var platformsOfRules = ["ios", "android", "macos", "iPadOS", "iPhone OS", "IOS", "Android"]
    package var versions = [
        "0", "0.1", "1", "1.0", "1.1", "1.1.9", "1.2-0", "1.2-1", "1.2-10", "1.2-RC.1", "1.2-beta", "1.2-beta.1",
        "1.2b9",
        "1.2b10", "1.2 rc1", "1.2", "1.2.0", "1.2.0.1-beta", "1.2.0.1", "1.2.1", "1.3-beta", "1.3", "1.10", "2-0", "2",
        "v1.2", "01.2", "1.2+45", "1.2 (46)", "1e0", "1.5e0", "1E2", "1.2-play", "1.2.0-release.0", "1.1.9-gms",
        "1.2.0.1-play", "99999999999999999999", "100000000000000000000",
    ]
    package var usualVersions = ["1.1", "1.2-beta", "1.2", "1.2.0-play", "1.2.1", "1.3"]
    package var unreadableVersions = [
        "1.", ".1", "1..0", "1,2", "\u{FF11}.\u{FF10}", "abc", "-1", "1.2-", "1.2-a..b", "Version 17.2 (Build 21C62)",
        String(repeating: "1", count: 129), "1.2 (", "1.2\u{A0}", "\u{130}", "2.1.3.alpha.42", "-0", "1e+2", "1.5e-0",
    ]
    package var builds = ["1", "40", "41", "42", "42.0", "43", "100"]
    package var osVersions = ["14", "14.8", "15", "15.0", "15.0.1", "16-beta", "16"]
    package var ranges = [
        "*", "<1.2", "<=1.2", ">1.2", ">=1.2", "=1.2", "1.2", "1.2.x", "1.2.*", "<=1.2.x", ">1.2.x", "<1.2.x",
        ">=1.2.x", "1.x", "1.2 - 1.4", "1.1 - 1.2.x", "~1.2", "~1.2.0", "~1", "^1.2", "^0.1", "^0.0", "^1.2-beta",
        ">=1.1 <1.2", "<1.1 || >=1.3", "1.0 || 1.2", ">1.2-beta <1.2.0.1", ">=1.2-beta.1", ">=0-0", ">= 1.2", "v1.2",
        "<99999999999999999999", "1.2b9 - 1.2b10", ">=1.2 <1.2.1 || 2.x", "=1.2-beta",
    ]
    package var buildRanges = ["<42", "<=42", ">42", "41", "40 - 42", "<41 || >42", "42.x", "*", "<43", ">=41 <42"]
    package var osRanges = ["<15", ">=15", "15.x", "<16", ">=14.8 <16", "*", "<=15"]
    package var wrongRanges = [
        "", " ", "<1..2", "||1.2", ">=1,<2", "!=1.2", "1.2-1.4", "1.2 (45)", "1.x.3", ">2 <1", "<*",
    ]
    package var regions = ["US", "DE", "JP", "GB", "XK", "TW"]
    package var wrongRegions = ["UK", "jp", "Japan", "EN"]
    package var languages = ["de", "zh", "zh-Hant", "ZH-hant-tw", "en-US", "pt-BR", "en-x-twain", "de-1996"]
    package var languageRanges = ["de", "zh", "zh-Hant", "ZH-hant-tw", "en-US", "pt-BR", "en-x-twain", "de-1996", "*"]
    package var wrongLanguages = ["de_DE", "", "zh-", "de-*", "en-UK"]
    package var attributeNames = [
        "channel", "n", "flag", "\u{E9}", "e\u{301}", "Channel", "a.b", String(repeating: "\u{E9}", count: 64),
        String(repeating: "\u{E9}", count: 64) + "n",
    ]
    package var attributeValues = [
        "beta", "Beta", "1", "1.0", "true", "false", "\u{E9}", "e\u{301}", "a, b", "1e0", "-0", "1.5e0",
    ]
    package var attributeRanges = ["<1", "<=1.0", ">=1", ">1", "1.x", "*", ">0.5 <1.5", "<0.2 || >=1.5-0", ">1-e"]
    package var texts = [
        "Please update", "{app} {target} {x}", "{app}", "{{app}} {app", "a\nb", "\"quoted\" \\ </script>",
        "\u{E9}e\u{301}",
        "\u{1F600} {target}", "{APP} { app }", "{target}{target}", "{date}: {app} {date", "{{date}}{target}",
    ]
    package var links = ["https://example.com/?a=b&c='x'", "store", "store", "market://details?id=x", "HTTP://x"]
    package var storeLinks = ["https://apps.example.com/1", "itms-apps://x?'y'", "market://details?id=a"]
    /// So far from each other that each app of a policy can be given the next numbers.
    package var storeIDs: [Int64] = [1, 9, 1_234_567_890, 9_007_199_254_740_980]
    package var wrongLinks = [
        "javascript:alert(1)", "https://", "https://example.com/a b", "https://example.com/{app}", "STORE",
    ]
    package var notes: [String] = []
    package var keys = ["a", "b", "k.2", "k-2", "k_2", "k2", "rule-1", "rule-10", "0", "z"]
    package var positions = [0, 0, 0, -1, 1]

    package var soaks = [0, 0, 1, 3_600_000_000, 86_400_000_000, 129_600_500_000, 172_800_000_000].map {
        DayTimeInterval(microseconds: $0)
    }
    package var reminds = [1, 3_600, 86_400, 129_605, 604_800].map {
        DayTimeInterval(microseconds: $0 * 1_000_000)
    }
    package var shows: [Int64] = [1, 2, 3, 4, 1_000]
    package var rollouts = [0, 1, 500, 2_500, 3_725, 5_000, 9_999, 10_000]
    /// Times from that about which a policy is written.
    package var hours: [Int64] = [-72, -48, -25, -24, -23, -2, -1, 0, 1, 2, 23, 24, 25, 48, 72]
    package var microseconds: [Int64] = [0, 0, 0, 0, 500_000, 1]
    /// Times about which policies are written, and where clocks change about then.
    package var places: [(time: Timestamp, timeZone: String)] = [
        (1_772_366_400, "UTC"), (1_774_695_600, "Europe/Berlin"), (1_792_843_200, "Europe/Berlin"),
        (1_772_884_800, "America/New_York"),
    ].map { (Timestamp(secondsSince1970: $0), $1) }
    package var timeZones = [
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe",
        "Pacific/Apia", "Asia/Kathmandu",
    ]

    package init() {}
}
