import UpdatePolicy

/// What the policies of a ``PolicyGenerator`` are like.
package struct PolicyStyle: Sendable {
    /// What the values are drawn from.
    package var pools = PolicyPools.nearMisses
    /// How often a column has a value.
    package var chances = PolicyChances()
    /// Whether some rows are ones that the database refuses, and many rules are lockouts of few versions or ask everybody
    /// to update, as in life. Where not, every row is one that the database takes.
    package var isLifelike = true
    /// How many attributes a rule asks for at most.
    package var mostAttributes = 2

    package init() {}
}

/// How many of a hundred rows have a value in a column, or have it true.
package struct PolicyChances: Sendable {
    package var appName = 80
    package var paused = 3
    package var storeLink = 50
    package var note = 0

    package var ios = 85
    package var usualVersion = 70
    package var build = 60
    package var minOS = 40
    package var releaseRegions = 50
    package var liveAt = 92
    package var staged = 12
    package var withdrawnAt = 12

    package var bundle = 80
    package var target = 50
    package var enabled = 88
    package var versions = 30
    package var builds = 15
    package var os = 8
    package var platforms = 12
    package var regions = 10
    package var languages = 8
    package var attributes = 8
    package var fullRollout = 65
    package var startsAt = 10
    package var endsAt = 10
    package var link = 45
    package var lockout = 45
    package var lockoutWithoutUpdate = 15
    package var final = 15
    package var texts = 45
    package var steps = 25
    /// Of rules with steps.
    package var held = 40
    /// Of apps and releases: what feeds alone read.
    package var feeds = 20
    package var hints = 25

    package init() {}

    /// Gives some columns other chances.
    package mutating func set(_ chances: KeyValuePairs<WritableKeyPath<PolicyChances, Int>, Int>) {
        for (column, percent) in chances { self[keyPath: column] = percent }
    }
}

extension PolicyStyle {
    /// Near what the database refuses and what a client is: for the comparison of SQL with the engine.
    package static let lifelike: PolicyStyle = {
        var style = PolicyStyle()
        // What is stored in another form than it is written.
        style.pools.languages += ["iw", "he", "no", "zh-HK", "zh-CN", "zh-Hans"]
        style.pools.languageRanges += ["iw", "nb", "zh-TW", "zh-CN", "zh-Hans"]
        style.pools.osVersions += ["19", "26"]
        style.pools.osRanges += [">=16", "<26", ">=19 <26"]
        return style
    }()

    /// Few values, which many rules and clients share: for the index and the impact, which are compared with a plain
    /// reading of the rows.
    package static let crowded: PolicyStyle = {
        var style = PolicyStyle()
        style.isLifelike = false
        style.pools.bundles = ["com.example.doto", "com.example.other"]
        style.pools.platformsOfRules = ["ios", "android", "macos"]
        style.pools.versions = [
            "1", "1.0.1", "1.1", "1.1-beta", "1.2-0", "1.2", "1.2.1", "1.3", "2", "2.0.5", "3",
        ]
        style.pools.ranges = [
            "<1.2", ">=1.1 <1.3", "1.x", "1.0 || 1.2", "~1.1", "*", ">1.2", "<=1.2.x", "=1.2", "2 - 3", "<1 || >2",
        ]
        style.pools.builds = ["1", "40", "41", "42", "43"]
        style.pools.buildRanges = ["<42", ">=41", "42", "40 - 41"]
        style.pools.osVersions = ["14", "15", "16.1"]
        style.pools.osRanges = ["<15", ">=15", "14.x"]
        style.pools.regions = ["JP", "US", "DE", "FR"]
        style.pools.languageRanges = ["de", "zh-Hant", "*", "zh", "de-AT"]
        style.pools.attributeNames = ["channel", "device"]
        style.pools.attributeValues = ["a", "b", "c", "1", "true"]
        style.pools.attributeRanges = ["<1", ">=1", "*"]
        style.pools.texts = ["x"]
        style.pools.positions = [-1, 0, 1, 2, 3]
        style.pools.soaks = [0, 0, 3_600_000_000, 7_200_000_000].map { DayTimeInterval(microseconds: $0) }
        style.pools.rollouts = [0, 1, 2_500, 5_000, 9_999, 10_000]
        style.pools.hours = [-3, -2, -1, 0, 1, 2, 3]
        style.pools.microseconds = [0, 0, -1, 1]
        style.chances.set([
            \.ios: 33, \.usualVersion: 0, \.build: 50, \.minOS: 30, \.releaseRegions: 30, \.liveAt: 85, \.staged: 15,
            \.withdrawnAt: 15, \.target: 25, \.enabled: 90, \.versions: 60, \.os: 15, \.platforms: 40, \.regions: 30,
            \.languages: 15, \.attributes: 30, \.fullRollout: 60, \.startsAt: 15, \.endsAt: 15, \.link: 0,
            \.lockout: 40, \.lockoutWithoutUpdate: 20, \.final: 5, \.texts: 0, \.steps: 15,
        ])
        return style
    }()
}
