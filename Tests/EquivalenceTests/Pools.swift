// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import UpdatePolicy

/// The small pools that random policies and clients draw from, so that they meet at their boundaries.
enum Pools {
    static let bundles = ["com.example.doto", "com.example.Other"]
    static let bundlesOfClients = [
        "com.example.doto", "com.example.doto", "com.example.doto", "com.example.doto", "com.example.doto",
        "com.example.doto", "com.example.doto", "COM.Example.DOTO", "com.EXAMPLE.other", "com.example.Other",
        "com.example.unknown", "com.example.dot\u{F6}",
    ]
    static let appNames = ["Doto", "{target}", "{target}", "{app}", "D\"ot\\o\u{E9}"]

    static let platforms = ["ios", "android", "macos"]
    static let platformsOfRules = ["ios", "android", "macos", "iPadOS", "iPhone OS", "IOS", "Android"]
    static let platformsOfClients = [
        "ios", "ios", "ios", "ios", "ios", "ios", "ios", "ios", "IOS", "iPadOS", "iPhone OS", "iphoneos", "android",
        "Android", "macos", "\u{130}OS", "web",
        " ios", String(repeating: "i", count: 64), String(repeating: "i", count: 65),
    ]

    static let versions = [
        "0", "0.1", "1", "1.0", "1.1", "1.1.9", "1.2-0", "1.2-1", "1.2-10", "1.2-RC.1", "1.2-beta", "1.2-beta.1",
        "1.2b9",
        "1.2b10", "1.2 rc1", "1.2", "1.2.0", "1.2.0.1-beta", "1.2.0.1", "1.2.1", "1.3-beta", "1.3", "1.10", "2-0", "2",
        "v1.2", "01.2", "1.2+45", "1.2 (46)", "1e0", "1.5e0", "1E2", "1.2-play", "1.2.0-release.0", "1.1.9-gms",
        "1.2.0.1-play", "99999999999999999999", "100000000000000000000",
    ]
    static let usualVersions = ["1.1", "1.2-beta", "1.2", "1.2.0-play", "1.2.1", "1.3"]
    static let unreadableVersions = [
        "1.", ".1", "1..0", "1,2", "\u{FF11}.\u{FF10}", "abc", "-1", "1.2-", "1.2-a..b", "Version 17.2 (Build 21C62)",
        String(repeating: "1", count: 129), "1.2 (", "1.2\u{A0}", "\u{130}", "2.1.3.alpha.42", "-0", "1e+2", "1.5e-0",
    ]
    static let blankVersions = [" 1.2", "1.2\t ", "\t1.1 ", "1.2\n", "\r\n1.1\r\n", "1.2\u{B}", "1.\n2"]
    static let numbers = ["1", "1.0", "1.10", "1.2", "2", "0", "0.10", "-1", "-1.2", "41", "42", "15.0"]

    static let builds = ["1", "40", "41", "42", "42.0", "43", "100"]
    static let osVersions = ["14", "14.8", "15", "15.0", "15.0.1", "16-beta", "16"]

    static let ranges = [
        "*", "<1.2", "<=1.2", ">1.2", ">=1.2", "=1.2", "1.2", "1.2.x", "1.2.*", "<=1.2.x", ">1.2.x", "<1.2.x",
        ">=1.2.x", "1.x", "1.2 - 1.4", "1.1 - 1.2.x", "~1.2", "~1.2.0", "~1", "^1.2", "^0.1", "^0.0", "^1.2-beta",
        ">=1.1 <1.2", "<1.1 || >=1.3", "1.0 || 1.2", ">1.2-beta <1.2.0.1", ">=1.2-beta.1", ">=0-0", ">= 1.2", "v1.2",
        "<99999999999999999999", "1.2b9 - 1.2b10", ">=1.2 <1.2.1 || 2.x", "=1.2-beta",
    ]
    static let buildRanges = ["<42", "<=42", ">42", "41", "40 - 42", "<41 || >42", "42.x", "*", "<43", ">=41 <42"]
    static let osRanges = ["<15", ">=15", "15.x", "<16", ">=14.8 <16", "*", "<=15"]
    static let wrongRanges = [
        "", " ", "<1..2", "||1.2", ">=1,<2", "!=1.2", "1.2-1.4", "1.2 (45)", "1.x.3", ">2 <1", "<*",
    ]

    static let regions = ["US", "DE", "JP", "GB", "XK", "TW"]
    static let wrongRegions = ["UK", "jp", "Japan", "EN"]
    static let regionsOfClients = [
        "US", "DE", "JP", "GB", "XK", "ja_JP", "zh-Hant-TW", "en_US_POSIX", "de_DE@currency=EUR", "de_DE.UTF-8",
        "zh-yue-TW", "EN-us", "en", "de", "us", "JPN", "English", "zh-Hant", "es-419", "en-x-US", "en-u-rg-gbzzzz",
        "UK", "x-US", "en-UK-US", "_US", "-", "@US", ".US", "en__US", "US-", "C", "POSIX", "\u{FF35}\u{FF33}",
        "en-U\u{15A}", "en-US-" + String(repeating: "x", count: 58), "en-US-" + String(repeating: "x", count: 59),
    ]

    static let languages = ["de", "zh", "zh-Hant", "ZH-hant-tw", "en-US", "pt-BR", "en-x-twain", "de-1996"]
    static let languageRanges = languages + ["*"]
    static let wrongLanguages = ["de_DE", "", "zh-", "de-*"]
    static let languagesOfClients = [
        "de", "DE", "de_AT", "de-1996", "de_DE.UTF-8", "de_DE@euro", "zh-Hant-TW", "zh_hant_tw", "zh-TW", "zh-Hant",
        "en-US", "en_US", "en", "en-US-x-twain", "en-x-twain", "en-x-twain-y-z", "pt", "pt-BR", "pt_BR", "*", "-",
        "de-",
        "-de", "x-de", "zh-Hant-x", "zh--Hant", "@de", "d\u{E9}", "de-" + String(repeating: "x", count: 61),
        "de-" + String(repeating: "x", count: 62), "zh-Hant-" + String(repeating: "\u{E9}", count: 28),
        "zh-Hant-" + String(repeating: "\u{E9}", count: 29),
    ]

    static let attributeNames = [
        "channel", "n", "flag", "\u{E9}", "e\u{301}", "Channel", "a.b", String(repeating: "\u{E9}", count: 64),
        String(repeating: "\u{E9}", count: 64) + "n",
    ]
    static let attributeValues = [
        "beta", "Beta", "1", "1.0", "true", "false", "\u{E9}", "e\u{301}", "a, b", "1e0", "-0", "1.5e0",
    ]
    static let attributeValuesOfClients =
        attributeValues + [1_024, 1_025, 1_025, 1_025].map { String(repeating: "v", count: $0) }

    static let texts = [
        "Please update", "{app} {target} {x}", "{app}", "{{app}} {app", "a\nb", "\"quoted\" \\ </script>",
        "\u{E9}e\u{301}",
        "\u{1F600} {target}", "{APP} { app }", "{target}{target}",
    ]
    static let links = ["https://example.com/?a=b&c=\"\\", "store", "store", "market://details?id=x", "HTTP://x"]
    static let storeLinks = ["https://apps.example.com/1", "itms-apps://x?\"y\"", "market://details?id=a"]
    static let wrongLinks = ["javascript:alert(1)", "https://", "https://example.com/a b", "STORE"]

    static let soaks: [Int64] = [0, 0, 1, 3_600_000_000, 86_400_000_000, 129_600_500_000, 172_800_000_000]
    static let rollouts = [0, 1, 500, 2_500, 3_725, 5_000, 9_999, 10_000]

    /// Times about which policies are written, and where clocks change about then.
    static let places: [(time: Timestamp, timeZone: String)] = [
        (1_772_366_400, "UTC"), (1_774_695_600, "Europe/Berlin"), (1_792_843_200, "Europe/Berlin"),
        (1_772_884_800, "America/New_York"),
    ].map { (Timestamp(secondsSince1970: $0), $1) }
    static let hours: [Int64] = [-72, -48, -25, -24, -23, -2, -1, 0, 1, 2, 23, 24, 25, 48, 72]
    static let timeZones = [
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe",
        "Pacific/Apia", "Asia/Kathmandu",
    ]
}
