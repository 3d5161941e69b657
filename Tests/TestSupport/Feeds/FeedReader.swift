package import Foundation
package import FoundationXML

/// What an installed app is to the client library in it.
package struct ReaderHost {
    package var bundle: String
    package var version: String
    package var build: Int
    package var os: String
    package var platform: String

    package init(bundle: String = "com.example.doto", version: String, build: Int, os: String, platform: String) {
        self.bundle = bundle
        self.version = version
        self.build = build
        self.os = os
        self.platform = platform
    }
}

/// What a client library makes of a document.
package enum ReaderDecision: Equatable {
    case nothing
    /// A newer version is shown; without a version it is not named.
    case prompt(String?)
    /// The app is not to be used until it is updated.
    case lockout(String?)
    /// The app crashes, or the library does something that no document may make it do.
    case crash(String)
}

/// The comparisons of the libraries, each as it is described.
package enum ReaderComparison {
    /// NSNumericSearch: iVersion from 1.6.4, Siren up to 6.
    static func numericSearch(_ left: String, isBelow right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }

    /// Whole numbers part by part, what is none is 0.
    package static func parts(_ left: String, isBelow right: String, count: Int = .max) -> Bool {
        let left = numbers(left).prefix(count)
        let right = numbers(right).prefix(count)
        for index in 0..<max(left.count, right.count) {
            let (one, other) = (index < left.count ? left[index] : 0, index < right.count ? right[index] : 0)
            if one != other { return one < other }
        }
        return false
    }

    private static func numbers(_ version: String) -> [Int] { version.split(separator: ".").map { Int($0) ?? 0 } }

    /// Qiita: a·10⁶+b·10³+c, and 0 for any other number of parts.
    static func qiita(_ version: String) -> Int {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard (1...3).contains(parts.count) else { return 0 }
        return zip(parts, [1_000_000, 1_000, 1]).reduce(0) { $0 + $1.0 * $1.1 }
    }

    /// The version of Dart and of npm: three numbers and identifiers of a pre-release; `nil` where it is none.
    static func semantic(_ version: String) -> (numbers: [Int], identifiers: [String])? {
        let halves = version.split(separator: "-", maxSplits: 1).map(String.init)
        guard let first = halves.first else { return nil }
        var numbers: [Int] = []
        for part in first.split(separator: ".", omittingEmptySubsequences: false) {
            guard let number = Int(part), number >= 0 else { return nil }
            numbers.append(number)
        }
        let identifiers = halves.count == 2 ? halves[1].split(separator: ".").map(String.init) : []
        return (Array((numbers + [0, 0]).prefix(3)), identifiers)
    }

    static func semantic(_ left: String, isBelow right: String) -> Bool? {
        guard let left = semantic(left), let right = semantic(right) else { return nil }
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        if left.identifiers.isEmpty || right.identifiers.isEmpty {
            return !left.identifiers.isEmpty && right.identifiers.isEmpty
        }
        for (one, other) in zip(left.identifiers, right.identifiers) where one != other {
            switch (Int(one), Int(other)) {
            case (.some(let one), .some(let other)): return one < other
            case (.some, nil): return true
            case (nil, .some): return false
            case (nil, nil): return one < other
            }
        }
        return left.identifiers.count < right.identifiers.count
    }
}

/// The client libraries, each as a program that reads a document as the library does.
package enum FeedReader: String, CaseIterable {
    case iVersion, updates
    case princeOfVersionsIOS, princeOfVersionsIOSBefore4, princeOfVersionsAndroid, princeOfVersionsAndroidBefore4
    case siren, sirenBefore7, iVersionLookup, updatesLookup, qiita, upgraderLookup, reactNative
    case upgrader, sparkle

    /// The platforms that the library runs on.
    package var platforms: [String] {
        switch self {
        case .princeOfVersionsAndroid, .princeOfVersionsAndroidBefore4: ["android"]
        case .sparkle: ["macos"]
        case .upgrader: ["android", "ios"]
        default: ["ios"]
        }
    }

    /// The name of the document that the library asks for; `nil`: it looks its app up.
    package var document: String? {
        switch self {
        case .iVersion: "iversion.plist"
        case .updates: "updates.json"
        case .princeOfVersionsIOS, .princeOfVersionsIOSBefore4, .princeOfVersionsAndroid,
            .princeOfVersionsAndroidBefore4:
            "prince-of-versions.json"
        case .upgrader, .sparkle: "appcast.xml"
        case .siren, .sirenBefore7, .iVersionLookup, .updatesLookup, .qiita, .upgraderLookup, .reactNative: nil
        }
    }

    /// What the library adds to the query, beside what its app does.
    package func query(_ bundle: String) -> [(name: String, value: String)] {
        switch self {
        case .upgrader: [("for", "flutter")]
        case .sparkle: [("for", "sparkle")]
        default: document == nil ? [("bundleId", bundle)] : []
        }
    }

    /// Whether the library compares pre-releases as Semantic Versioning does.
    package var isSemantic: Bool { [.upgrader, .upgraderLookup, .princeOfVersionsAndroidBefore4].contains(self) }

    /// Whether the library compares builds.
    package var comparesBuilds: Bool { self == .sparkle || self == .princeOfVersionsAndroid }

    package func decision(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        switch self {
        case .iVersion: iVersion(document, host)
        case .updates: updates(document, host)
        case .princeOfVersionsIOS: princeOfVersionsIOS(document, host)
        case .princeOfVersionsIOSBefore4, .princeOfVersionsAndroidBefore4: princeOfVersionsBefore4(document, host)
        case .princeOfVersionsAndroid: princeOfVersionsAndroid(document, host)
        case .siren, .sirenBefore7, .iVersionLookup, .updatesLookup, .qiita, .upgraderLookup, .reactNative:
            lookup(document, host)
        case .upgrader: upgrader(document, host)
        case .sparkle: sparkle(document, host)
        }
    }

    /// Whether a document tells the library how often to show the version that it prompts for.
    package var countsShows: Bool { document == "updates.json" || document == "prince-of-versions.json" }

    /// How often the library shows the version that it prompts for; `nil`: at every start.
    package func mostShows(_ document: Data, _ host: ReaderHost) -> Int? {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else { return nil }
        func isOnce(_ frequency: Any?) -> Bool { (frequency as? String)?.lowercased() != "always" }
        switch self {
        case .updates:
            let settings = root["updates"] as? [String: Any] ?? root
            // A least version is shown whatever the mode.
            if let least = settings["min-optional-app-version"] as? String, below(host.version, least, settings) {
                return nil
            }
            return ["never", "once", "twice", "thrice"].firstIndex(of: settings["notify"] as? String ?? "once")
        case .princeOfVersionsIOS:
            let configuration = (iOSConfigurations(root["ios"]) ?? iOSConfigurations(root["ios2"]))?.first {
                candidate in
                meetsRequirements(candidate, host)
            }
            return isOnce(configuration?["notify_last_version_frequency"]) ? 1 : nil
        case .princeOfVersionsAndroid:
            let configuration = (root["android2"] as? [[String: Any]])?.first
            return isOnce(configuration?["notify_last_version_frequency"]) ? 1 : nil
        case .princeOfVersionsIOSBefore4, .princeOfVersionsAndroidBefore4:
            let shape = root[self == .princeOfVersionsAndroidBefore4 ? "android" : "ios"] as? [String: Any]
            return isOnce((shape?["latest_version"] as? [String: Any])?["notification_type"]) ? 1 : nil
        default: return nil
        }
    }

    // MARK: iVersion

    private func iVersion(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let list = try? PropertyListSerialization.propertyList(from: document, format: nil) else {
            return .nothing
        }
        guard let versions = list as? [String: Any] else { return .crash("allKeys of what is no dictionary") }
        for (key, value) in versions where !(value is [String]) {
            return .crash("componentsJoinedByString: of the notes of \(key)")
        }
        let newer = versions.keys.filter { ReaderComparison.numericSearch(host.version, isBelow: $0) }
        let newest = newer.max { ReaderComparison.numericSearch($0, isBelow: $1) }
        return newest.map { .prompt($0) } ?? .nothing
    }

    // MARK: Updates

    private func updates(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else { return .nothing }
        if let updates = root["updates"], !(updates is [String: Any]), !(updates is [Any]) {
            return .crash("dataWithJSONObject: of \(updates)")
        }
        let settings = root["updates"] as? [String: Any] ?? root
        if settings["bundle-version"] != nil || settings["build"] != nil {
            return .crash("replaces the app's own version")
        }
        let mode = settings["check-for"] as? String ?? "automatically"
        if mode == "never" { return .nothing }
        if mode != "manually" { return .crash("asks the App Store") }
        if let least = settings["min-required-app-version"] as? String, below(host.version, least, settings) {
            return .lockout(least)
        }
        if let least = settings["min-optional-app-version"] as? String, below(host.version, least, settings) {
            return .prompt(least)
        }
        guard let version = settings["version"] as? String, let minOS = settings["min-os-required"] as? String else {
            return .nothing
        }
        if settings["notify"] as? String == "never" { return .nothing }
        guard minOS.isEmpty || !ReaderComparison.parts(host.os, isBelow: minOS), below(host.version, version, settings)
        else { return .nothing }
        if settings["app-store-id"].map({ !($0 is String) }) ?? false { return .crash("the button does nothing") }
        return settings["update-type"] as? String == "hard" ? .lockout(version) : .prompt(version)
    }

    private func below(_ version: String, _ other: String, _ settings: [String: Any]) -> Bool {
        let count = settings["comparing"] as? Int == 8 ? 4 : 3
        return ReaderComparison.parts(version, isBelow: other, count: count)
    }

    // MARK: Prince of Versions

    private func princeOfVersionsIOS(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else { return .nothing }
        guard let all = iOSConfigurations(root["ios"]) ?? iOSConfigurations(root["ios2"]) else {
            return .crash("dataNotFound")
        }
        guard let met = all.first(where: { meetsRequirements($0, host) }) else {
            return .crash("requirementsNotSatisfied")
        }
        let required = met["required_version"] as? String
        let last = met["last_version_available"] as? String
        guard required != nil || last != nil else { return .crash("missingConfigurationVersion") }
        if let required, ReaderComparison.parts(host.version, isBelow: required, count: 3) { return .lockout(required) }
        if let last, ReaderComparison.parts(host.version, isBelow: last, count: 3) { return .prompt(last) }
        return .nothing
    }

    private func meetsRequirements(_ configuration: [String: Any], _ host: ReaderHost) -> Bool {
        (configuration["requirements"] as? [String: Any] ?? [:]).allSatisfy { name, value in
            guard name == "required_os_version" else { return false }
            return (value as? String).map { !ReaderComparison.parts(host.os, isBelow: $0) } ?? true
        }
    }

    /// All configurations of an array; `nil` where one of them cannot be read.
    private func iOSConfigurations(_ value: Any?) -> [[String: Any]]? {
        guard let array = value as? [[String: Any]] else { return nil }
        for configuration in array {
            for name in ["required_version", "last_version_available"] {
                if let version = configuration[name] {
                    guard let text = version as? String, text.split(separator: ".").first.flatMap({ Int($0) }) != nil
                    else {
                        return nil
                    }
                }
            }
            if let frequency = configuration["notify_last_version_frequency"] {
                guard let text = frequency as? String, ["ALWAYS", "ONCE"].contains(text) else { return nil }
            }
            if let meta = configuration["meta"] {
                guard let flat = meta as? [String: Any],
                    !flat.values.contains(where: { $0 is [Any] || $0 is [String: Any] })
                else { return nil }
            }
        }
        return array
    }

    private func princeOfVersionsBefore4(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else { return .nothing }
        let name = self == .princeOfVersionsAndroidBefore4 ? "android" : "ios"
        guard let shape = root[name] as? [String: Any] else { return .crash("no \(name)") }
        func version(_ value: Any?) -> String? {
            guard let text = value as? String else { return nil }
            return text.split(separator: ".").count == 3 ? text : nil
        }
        func isBelow(_ version: String) -> Bool {
            self == .princeOfVersionsAndroidBefore4
                ? ReaderComparison.semantic(host.version, isBelow: version) ?? false
                : ReaderComparison.parts(host.version, isBelow: version)
        }
        if shape["minimum_version"] != nil {
            guard let minimum = version(shape["minimum_version"]) else { return .crash("minimum_version") }
            if isBelow(minimum) { return .lockout(minimum) }
        }
        guard let latest = version((shape["latest_version"] as? [String: Any])?["version"]) else {
            return .crash("latest_version")
        }
        return isBelow(latest) ? .prompt(latest) : .nothing
    }

    private func princeOfVersionsAndroid(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
            let value = root["android2"] ?? root["android"]
        else { return .crash("no android") }
        let all = value as? [[String: Any]] ?? (value as? [String: Any]).map { [$0] } ?? []
        guard let met = all.first(where: { ($0["requirements"] as? [String: Any] ?? [:]).isEmpty }) else {
            return .crash("no configuration")
        }
        func code(_ name: String) -> Int?? {
            guard let value = met[name] else { return .some(nil) }
            guard let number = value as? Int, !(value is String), number <= Int(Int32.max) else { return nil }
            return number
        }
        guard case .some(let required) = code("required_version"), case .some(let last) = code("last_version_available")
        else { return .crash("a version that is no int") }
        guard required != nil || last != nil else { return .crash("IllegalStateException") }
        if let required, host.build < required { return .lockout(nil) }
        if let last, host.build < last { return .prompt(nil) }
        return .nothing
    }

    // MARK: Look-up

    private func lookup(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
            let results = root["results"] as? [[String: Any]]
        else { return .crash("no results") }
        guard let count = root["resultCount"] as? Int, count == results.count else { return .crash("resultCount") }
        guard let result = self == .iVersionLookup ? results.last : results.first else { return .nothing }
        guard let version = result["version"] as? String else { return .crash("no version") }
        let minOS = result["minimumOsVersion"] as? String
        let isOnSystem = minOS.map { !ReaderComparison.parts(host.os, isBelow: $0) }
        switch self {
        case .siren, .sirenBefore7, .updatesLookup:
            guard result["trackId"] as? Int != nil, let isOnSystem else { return .crash("cannot decode") }
            if self != .updatesLookup {
                guard let date = result["currentVersionReleaseDate"] as? String,
                    date.range(of: #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"#, options: .regularExpression) != nil
                else { return .crash("currentVersionReleaseDate") }
            }
            let isNewer =
                self == .sirenBefore7
                ? ReaderComparison.numericSearch(host.version, isBelow: version)
                : ReaderComparison.parts(host.version, isBelow: version)
            return isOnSystem && isNewer ? .prompt(version) : .nothing
        case .iVersionLookup:
            guard isOnSystem != nil else { return .crash("compare:nil") }
            guard result["bundleId"] as? String == host.bundle else { return .crash("not found") }
            return ReaderComparison.numericSearch(host.version, isBelow: version) ? .prompt(version) : .nothing
        case .qiita:
            return ReaderComparison.qiita(host.version) < ReaderComparison.qiita(version) ? .prompt(version) : .nothing
        case .upgraderLookup:
            guard result["trackViewUrl"] as? String != nil else { return .crash("no trackViewUrl") }
            if let description = result["description"] as? String,
                let range = description.range(
                    of: #"\[:mav:\s*[^\s]+\s*\]"#,
                    options: [.regularExpression, .caseInsensitive]
                )
            {
                let least = description[range].dropFirst(6).dropLast().trimmingCharacters(in: .whitespaces)
                if ReaderComparison.semantic(host.version, isBelow: least) ?? false { return .lockout(least) }
            }
            return ReaderComparison.semantic(host.version, isBelow: version) ?? false ? .prompt(version) : .nothing
        default:
            return ReaderComparison.semantic(host.version, isBelow: version) ?? false ? .prompt(version) : .nothing
        }
    }

    // MARK: Appcasts

    private func upgrader(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let items = AppcastReading.items(document) else { return .crash("no XML") }
        var newest: String?
        var critical: String?
        for item in items {
            guard let enclosure = item.enclosures.last,
                let version = item.elements["sparkle:version"] ?? enclosure["sparkle:version"]
            else { continue }
            if let os = enclosure["sparkle:os"], os.lowercased() != host.platform { continue }
            if item.elements["sparkle:minimumSystemVersion"] != nil { continue }
            guard ReaderComparison.semantic(version) != nil else { return .nothing }
            if newest.map({ ReaderComparison.semantic($0, isBelow: version) ?? false }) ?? true { newest = version }
            if item.path.contains("sparkle:tags/sparkle:criticalUpdate"),
                critical.map({ ReaderComparison.semantic($0, isBelow: version) ?? false }) ?? true
            {
                critical = version
            }
        }
        guard let newest, ReaderComparison.semantic(host.version, isBelow: newest) ?? false else { return .nothing }
        let isBlocked = critical.flatMap { ReaderComparison.semantic(host.version, isBelow: $0) } ?? false
        return isBlocked ? .lockout(newest) : .prompt(newest)
    }

    private func sparkle(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let items = AppcastReading.items(document) else { return .crash("no XML") }
        var best: (build: Int, item: AppcastReading.Item)?
        for item in items {
            let text = item.enclosures.last?["sparkle:version"] ?? item.elements["sparkle:version"]
            guard let build = text.flatMap({ Int($0) }) else { return .crash("an item without a version") }
            let address = item.enclosures.last?["url"] ?? item.elements["link"] ?? ""
            guard address.hasPrefix("https://") || address.hasPrefix("http://") else {
                return .crash("an item without a link")
            }
            if let least = item.elements["sparkle:minimumSystemVersion"],
                ReaderComparison.parts(host.os, isBelow: least)
            {
                continue
            }
            if best.map({ $0.build < build }) ?? true { best = (build, item) }
        }
        guard let best, host.build < best.build else { return .nothing }
        let shown = best.item.elements["sparkle:shortVersionString"]
        if best.item.path.contains("sparkle:tags/sparkle:criticalUpdate") { return .lockout(shown) }
        guard best.item.path.contains("sparkle:criticalUpdate") else { return .prompt(shown) }
        let bound = best.item.attributes["sparkle:criticalUpdate"]?["sparkle:version"].flatMap { Int($0) }
        return bound.map { host.build < $0 } ?? true ? .lockout(shown) : .prompt(shown)
    }

}

/// The clients of the documents that templates of the guide make, each as a program that reads one as the client does.
package enum TemplateReader: String, CaseIterable {
    case minimumVersion = "version.json"
    case appUpdaterJSON = "app-updater.json"
    case appUpdaterXML = "app-updater.xml"
    case androidSiren = "android-siren.json"

    package func decision(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        switch self {
        case .minimumVersion: minimumVersion(document, host)
        case .appUpdaterJSON: appUpdaterJSON(document, host)
        case .appUpdaterXML: appUpdaterXML(document, host)
        case .androidSiren: androidSiren(document, host)
        }
    }

    /// A few lines that somebody wrote by hand: a least version, and the newest one.
    private func minimumVersion(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else {
            return .crash("no JSON")
        }
        for (name, decide) in [("min", ReaderDecision.lockout), ("latest", ReaderDecision.prompt)] {
            guard let version = root[name] else { return .crash("no \(name)") }
            guard let version = version as? String else { continue }
            if ReaderComparison.parts(host.version, isBelow: version) { return decide(version) }
        }
        return .nothing
    }

    private func appUpdaterJSON(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
            let version = root["latestVersion"] as? String, let url = root["url"] as? String,
            URL(string: url)?.host != nil
        else { return .nothing }
        if root["releaseNotes"].map({ !($0 is [String]) }) ?? false { return .crash("releaseNotes") }
        let code = root["latestVersionCode"] as? Int ?? (root["latestVersionCode"] as? String).flatMap { Int($0) }
        return appUpdater(version, code, host)
    }

    private func appUpdaterXML(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let items = AppcastReading.items(document, named: "update"), let update = items.first,
            let version = update.elements["latestVersion"], update.elements["url"] != nil
        else { return .nothing }
        return appUpdater(version, update.elements["latestVersionCode"].flatMap { Int($0) }, host)
    }

    private func appUpdater(_ version: String, _ code: Int?, _ host: ReaderHost) -> ReaderDecision {
        if let code, code > 0 { return host.build < code ? .prompt(version) : .nothing }
        return ReaderComparison.parts(host.version, isBelow: version) ? .prompt(version) : .nothing
    }

    private func androidSiren(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any],
            let entry = root[host.bundle] as? [String: Any]
        else { return .nothing }
        guard entry["enable"] as? Bool == true else { return .nothing }
        let isForced = entry["force"] as? Bool == true
        if let name = entry["minVersionName"] as? String {
            let (own, least) = (host.version.split(separator: "."), name.split(separator: "."))
            if own.count == least.count {
                for part in own + least where part.allSatisfy(\.isNumber) && Int32(part) == nil {
                    return .crash("NumberFormatException")
                }
                if ReaderComparison.parts(host.version, isBelow: name) {
                    return isForced ? .lockout(name) : .prompt(name)
                }
            }
        }
        if let value = entry["minVersionCode"] {
            guard let code = value as? Int, !(value is String), code <= Int(Int32.max) else {
                return .crash("minVersionCode")
            }
            if host.build < code { return isForced ? .lockout(nil) : .prompt(nil) }
        }
        return .nothing
    }
}

/// The clients of the file that replaces those of other gates, each as a program that reads it as the client does.
package enum GateReader: CaseIterable {
    case firebase, appGateKit, appUpdateKit

    package func decision(_ document: Data, _ host: ReaderHost) -> ReaderDecision {
        guard let root = try? JSONSerialization.jsonObject(with: document) as? [String: Any] else { return .nothing }
        switch self {
        case .firebase:
            return decision(root["minimum_version"] as? String, root["latest_version"] as? String, host.version)
        case .appGateKit:
            // Apart from digits and dots, nothing is a version.
            guard let floor = root["min_supported"] as? String,
                [floor, host.version].allSatisfy({ $0.wholeMatch(of: /[0-9]+(\.[0-9]+)*/) != nil })
            else { return .nothing }
            return decision(floor, nil, host.version)
        case .appUpdateKit:
            // One member of another type makes all of them unreadable.
            for name in ["minimum_version", "latest_version", "store_url"] where !(root[name] is String?) {
                return .nothing
            }
            guard let link = root["store_url"] as? String, URL(string: link) != nil else { return .nothing }
            // A pre-release is its release.
            let version = String(host.version.prefix { $0 != "-" && $0 != "+" })
            return decision(root["minimum_version"] as? String, root["latest_version"] as? String, version)
        }
    }

    private func decision(_ least: String?, _ newest: String?, _ version: String) -> ReaderDecision {
        if let least, ReaderComparison.parts(version, isBelow: least) { return .lockout(least) }
        if let newest, ReaderComparison.parts(version, isBelow: newest) { return .prompt(newest) }
        return .nothing
    }
}

/// The items of an XML document, by the literal names of their elements.
package final class AppcastReading: NSObject, XMLParserDelegate {
    package struct Item {
        package var elements: [String: String] = [:]
        package var attributes: [String: [String: String]] = [:]
        package var enclosures: [[String: String]] = []
        /// The elements in it, by their path.
        package var path: Set<String> = []
    }

    private let name: String
    private var items: [Item] = []
    private var names: [String] = []
    private var text = ""

    private init(_ name: String) { self.name = name }

    /// The items; `nil` where the document is no XML.
    package static func items(_ document: Data, named name: String = "item") -> [Item]? {
        let reading = AppcastReading(name)
        let parser = XMLParser(data: document)
        parser.delegate = reading
        return parser.parse() ? reading.items : nil
    }

    package func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        text = ""
        if element == name {
            items.append(Item())
            names = []
        } else if !items.isEmpty {
            names.append(element)
            items[items.count - 1].path.insert(names.joined(separator: "/"))
            items[items.count - 1].attributes[element] = attributes
            if element == "enclosure" { items[items.count - 1].enclosures.append(attributes) }
        }
    }

    package func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    package func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard !items.isEmpty, element != name, names.last == element else { return }
        items[items.count - 1].elements[element] = text
        names.removeLast()
        text = ""
    }
}
