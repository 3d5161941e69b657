import TestPolicies

/// The small pools that random clients draw from beside those of policies, so that they meet at their boundaries.
enum ClientPools {
    static let bundles = [
        "com.example.doto", "com.example.doto", "com.example.doto", "com.example.doto", "com.example.doto",
        "com.example.doto", "com.example.doto", "COM.Example.DOTO", "com.EXAMPLE.other", "com.example.Other",
        "com.example.unknown", "com.example.dot\u{F6}",
    ]

    static let platforms = [
        "ios", "ios", "ios", "ios", "ios", "ios", "ios", "ios", "IOS", "iPadOS", "iPhone OS", "iphoneos", "android",
        "Android", "macos", "MacOS", "\u{130}OS", "web",
        " ios", String(repeating: "i", count: 64), String(repeating: "i", count: 65),
    ]

    /// Systems, and what none ever was on some platform: API levels, Darwin's numbers, what old SDKs are told.
    static let osVersions =
        PolicyPools.nearMisses.osVersions + [
            "10.16", "15.9.9", "16.0", "18.7", "19-0", "19", "19.9", "20-0", "20", "21.6.0", "25.6", "26-0", "26", "36",
        ]

    static let blankVersions = [" 1.2", "1.2\t ", "\t1.1 ", "1.2\n", "\r\n1.1\r\n", "1.2\u{B}", "1.\n2"]

    static let numbers = ["1", "1.0", "1.10", "1.2", "2", "0", "0.10", "-1", "-1.2", "41", "42", "15.0"]

    static let regions = [
        "US", "DE", "JP", "GB", "XK", "ja_JP", "zh-Hant-TW", "en_US_POSIX", "de_DE@currency=EUR", "de_DE.UTF-8",
        "zh-yue-TW", "EN-us", "en", "de", "us", "JPN", "English", "zh-Hant", "es-419", "en-x-US", "en-u-rg-gbzzzz",
        "UK", "x-US", "en-UK-US", "_US", "-", "@US", ".US", "en__US", "US-", "C", "POSIX", "\u{FF35}\u{FF33}",
        "en-U\u{15A}", "en-US-" + String(repeating: "x", count: 58), "en-US-" + String(repeating: "x", count: 59),
    ]

    static let languages = [
        "iw", "iw_IL", "he", "IW", "in-ID", "ji", "jw", "mo-MD", "no_NO", "nb", "tl-PH", "fil", "iwx", "zh-HK", "zh_MO",
        "zh_CN", "ZH-SG", "zh-tw-x-a", "zh-Hans-TW", "zh", "zh-yue-HK", "zh-TWX",
        "de", "DE", "de_AT", "de-1996", "de_DE.UTF-8", "de_DE@euro", "zh-Hant-TW", "zh_hant_tw", "zh-TW", "zh-Hant",
        "en-US", "en_US", "en", "en-US-x-twain", "en-x-twain", "en-x-twain-y-z", "pt", "pt-BR", "pt_BR", "*", "-",
        "de-",
        "-de", "x-de", "zh-Hant-x", "zh--Hant", "@de", "d\u{E9}", "de-" + String(repeating: "x", count: 61),
        "de-" + String(repeating: "x", count: 62), "zh-Hant-" + String(repeating: "\u{E9}", count: 28),
        "zh-Hant-" + String(repeating: "\u{E9}", count: 29),
    ]

    static let attributeValues =
        PolicyPools.nearMisses.attributeValues + [1_024, 1_025, 1_025, 1_025].map { String(repeating: "v", count: $0) }
}
