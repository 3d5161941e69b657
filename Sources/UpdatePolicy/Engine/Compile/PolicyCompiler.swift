struct PolicyCompiler {
    private(set) var apps: [CompiledApp] = []
    private(set) var appIndexes: NameTable
    private(set) var platformNumbers: PlatformNumbers
    private(set) var textLanguages: NameTable
    private(set) var rulesForEveryApp: RuleGroup?
    let hashSeed: UInt64

    private struct Rows {
        var app: App?
        var releases: [Release] = []
        var rules: [Rule] = []
    }

    init(hashSeed: UInt64) {
        self.hashSeed = hashSeed
        appIndexes = NameTable(hashSeed: hashSeed)
        platformNumbers = PlatformNumbers(hashSeed: hashSeed)
        textLanguages = NameTable(hashSeed: hashSeed)
    }

    /// Begins with another policy, whose numbers of apps, platforms and languages stay.
    init(continuing policy: CompiledPolicy) {
        apps = policy.apps
        appIndexes = policy.appIndexes
        platformNumbers = policy.platformNumbers
        textLanguages = policy.textLanguages
        rulesForEveryApp = policy.rulesForEveryApp
        hashSeed = policy.hashSeed
    }

    /// Puts the rows of a policy in place of what is there about some apps, and if wanted about every app.
    ///
    /// - Parameter bundles: Apps that may have no rows; those that have need not be named.
    mutating func compile(
        _ policy: Policy,
        bundles: [String] = [],
        includesRulesForEveryApp: Bool = true
    ) throws(PolicyError) {
        var rows: [Int: Rows] = [:]
        for bundle in bundles { rows[index(ofApp: bundle)] = Rows() }
        for app in policy.apps {
            let appIndex = index(ofApp: app.bundle)
            guard rows[appIndex]?.app == nil else {
                throw PolicyError(row: "app \(app.bundle)", reason: "appears twice")
            }
            rows[appIndex, default: Rows()].app = app
        }
        for release in policy.releases { rows[index(ofApp: release.bundle), default: Rows()].releases.append(release) }
        var rulesOfEveryApp: [Rule] = []
        var keys = Set<UTF8Text>(minimumCapacity: policy.rules.count)
        for rule in policy.rules {
            guard keys.insert(UTF8Text(rule.key)).inserted else {
                throw PolicyError(row: "rule \(rule.key)", reason: "appears twice")
            }
            if let bundle = rule.bundle {
                rows[index(ofApp: bundle), default: Rows()].rules.append(rule)
            } else {
                rulesOfEveryApp.append(rule)
            }
        }
        for index in rows.keys.sorted() { apps[index] = try compile(rows[index] ?? Rows(), index) }
        if includesRulesForEveryApp {
            rulesForEveryApp = try group(rulesOfEveryApp, ofApp: nil)
        }
    }

    private mutating func index(ofApp bundle: String) -> Int {
        let index = appIndexes.insert(bundle)
        if index == apps.count { apps.append(CompiledApp(index: index, bundle: bundle)) }
        return index
    }

    private mutating func compile(_ rows: Rows, _ index: Int) throws(PolicyError) -> CompiledApp {
        let bundle = rows.app?.bundle ?? apps[index].bundle
        return CompiledApp(
            index: index, bundle: bundle, row: rows.app, links: links(of: rows.app), releaseRows: rows.releases,
            releases: try releaseLists(rows.releases), rules: try group(rows.rules, ofApp: rows.app?.name ?? bundle)
        )
    }

    private mutating func group(_ rows: [Rule], ofApp app: String?) throws(PolicyError) -> RuleGroup? {
        try RuleGroupCompiler.group(rows, ofApp: app, &platformNumbers, &textLanguages)
    }

    private mutating func links(of app: App?) -> [CompiledApp.Link] {
        (app?.storeLinks ?? []).map { link in
            var bytes: [UInt8] = []
            MessageBytes.append(link: link.link, to: &bytes)
            let platform = platformNumbers.insert(link.platform)
            return CompiledApp.Link(platform: platform, link: link.link, bytes: bytes)
        }
    }

    private mutating func releaseLists(_ rows: [Release]) throws(PolicyError) -> [ReleaseList] {
        try Dictionary(grouping: rows) { platformNumbers.insert($0.platform) }.sorted { $0.key < $1.key }
            .map { platform, rows throws(PolicyError) in try ReleaseList(rows, onPlatform: platform) }
    }
}
