extension Explanation {
    /// What became of the rule, and why, in one sentence:
    /// `bad-1.1 is sent without the lockout: 1.2 needs iOS 15, but this client has 14.`
    package func sentence(for client: Client, moment: @escaping (Timestamp) -> String) -> String {
        let words = ExplanationWords(explanation: self, client: client, moment: moment)
        switch reason {
        case .sent:
            let reason = release.map { ": \($0) is available to this client" } ?? ""
            return "\(key) is sent\(lockout ? " with the lockout" : "")\(reason)\(words.readings)."
        case .noWayOut(let wayOut): return "\(key) is sent without the lockout: \(words.missing(wayOut))."
        case .behindRollout:
            let reason = "the person asked for this check, though \(words.fault(.rollout, nil))"
            return "\(key) is sent\(lockout ? " without the lockout" : ""): \(reason)."
        case .afterFinal(let other): return "\(key) is not sent: \(other) comes before it and is final."
        case .unmet(let condition, let attribute):
            return "\(key) is not sent: \(words.fault(condition, attribute))."
        }
    }
}

private struct ExplanationWords {
    let explanation: Explanation
    let client: Client
    let moment: (Timestamp) -> String

    private var expected: String { explanation.expected ?? "" }

    /// How the client's system and version are read, where the outcome hangs on it.
    var readings: String {
        [explanation.hangsOnSystem ? noSystem : nil, explanation.hangsOnPreRelease ? preRelease : nil]
            .compactMap { $0.map { "; \($0)" } }.joined()
    }

    /// What the version of the client's system looks like, where none of its platform ever had it.
    private var noSystem: String? {
        guard client.sentNumberOfNoSystem, let os = client.os else { return nil }
        return client.platform?.look(ofNoSystem: os)
    }

    private var preRelease: String? {
        guard let version = client.version, version.isPreRelease else { return nil }
        return "\(version) is read as a pre-release, which is below \(version.writtenNumbers)"
    }

    func fault(_ condition: Condition, _ attribute: String?) -> String {
        let actual = explanation.actual
        switch condition {
        case .versions:
            return isFor(condition, meaning: VersionRange(expected).map { " (\($0.inWords))" } ?? "") + readings
        case .os:
            return noSystem.map { "it is for \(systemName) \(expected), and \($0)" }
                ?? isFor(condition, asked: "\(systemName) ")
        case .regions:
            guard let actual, client.region == nil else { return isFor(condition) }
            return "it is for \(expected), but the client sent the region \(actual), which names no country"
        case .attributes:
            return "it asks for \(attribute ?? "attributes") \(expected), but "
                + (actual.map { "this client sent \($0)" } ?? "the client did not send it")
        case .target:
            let target = explanation.rule.target ?? ""
            guard client.isBelow(target) else {
                let sent = client.hasUnreadableVersion ? "but the client sent" : "and this client has"
                let suffixes = client.version == AppVersion(target) ? ignoredSuffixes(of: [target, actual ?? ""]) : ""
                let had = actual.map { "\(sent) \($0)" } ?? "but the client sent no version"
                return "its target is \(target), \(had)\(suffixes)"
            }
            if let obstacle = explanation.obstacle { return text(obstacle) }
            if client.platform == nil { return "it waits for a release, but the client sent no platform" }
            return "its target is \(target), "
                + (actual.map { "but the newest release for this client is \($0)" }
                    ?? "and no release for \(systemName) reaches it")
        case .startsAt: return "it starts at \(explanation.rule.startsAt.map(moment) ?? "")"
        case .endsAt: return "it ended at \(explanation.rule.endsAt.map(moment) ?? "")"
        case .rollout:
            let hold = explanation.heldSince.map { ", held since \(moment($0))" } ?? ""
            let rollout = "the rollout is \(explanation.rollout) %\(hold)"
            guard explanation.rollout != .zero else { return rollout }
            guard let bucket = explanation.bucket.flatMap(Percentage.init(hundredths:)) else {
                return "the client sent no install, and \(rollout)"
            }
            return "\(rollout); this installation is not included until the rollout passes \(bucket) %"
        case .enabled: return "it is disabled"
        case .paused: return "the app is paused"
        default: return isFor(condition)
        }
    }

    func missing(_ wayOut: WayOut) -> String {
        if let obstacle = explanation.obstacle { return text(obstacle) }
        if client.platform == nil { return "the client sent no platform, so no update is known for it" }
        guard let release = explanation.release else { return "no release for \(systemName) is known for this client" }
        guard wayOut == .notAbove else {
            return "\(release), the newest release for this client, is locked out as well"
        }
        if let version = client.version {
            let newest = "the newest release for this client is \(release)"
            guard version == AppVersion(release) else {
                let isPreRelease = AppVersion(release).map { $0.numbers == version.numbers } ?? false
                return "\(newest), which is not newer than its \(version)"
                    + (isPreRelease ? preRelease.map { "; \($0)" } ?? "" : "")
            }
            return "\(newest), the version that it has, and no build is recorded for it"
                + ignoredSuffixes(of: [release, version.text])
        }
        return "the client sent no version that can be read, so \(release) may be what it has"
    }

    /// What counts for nothing of some versions: `; +45 counts for nothing`.
    private func ignoredSuffixes(of versions: [String]) -> String {
        var suffixes: [String] = []
        for version in versions {
            let suffix = String(version.drop { $0 != "+" && $0 != "(" }.prefix { $0 != " " })
            if suffix.hasPrefix("+"), !suffixes.contains(suffix) { suffixes.append(suffix) }
        }
        let verb = suffixes.count == 1 ? "counts" : "count"
        return suffixes.isEmpty ? "" : "; \(suffixes.joined(separator: " and ")) \(verb) for nothing"
    }

    private func isFor(_ condition: Condition, asked: String? = nil, meaning: String = "") -> String {
        let (what, had) = condition.words
        let sent = explanation.actual.map { "\(had) \($0)" } ?? "the client sent no \(condition.field?.name ?? "")"
        return "it is for \(asked ?? what)\(expected)\(meaning), but \(sent)"
    }

    private func text(_ obstacle: ReleaseObstacle) -> String {
        let release = obstacle.release
        switch obstacle.reason {
        case .withdrawn(let time):
            return time.map { "\(release) was withdrawn at \(moment($0))" } ?? "\(release) is withdrawn"
        case .staged: return "\(release) is staged, so not everybody can get it"
        case .noDate: return "\(release) has no date from which it is live"
        case .liveFrom(let time): return "\(release) is live from \(moment(time)) on"
        case .regions(let regions):
            let region = client.region.map { "this client is in \($0.code)" } ?? "the client sent no region"
            return "\(release) is for \(regions.joined(separator: ", ")), but \(region)"
        case .os(let version):
            let os =
                noSystem.map { "and \($0)" } ?? client.os.map { "but this client has \($0.text)" }
                ?? "but the client sent no os that can be read"
            return "\(release) needs \(systemName) \(version), \(os)"
        case .soaksUntil(let time): return "\(release) is too new for this rule until \(moment(time))"
        }
    }

    private var systemName: String { client.platform?.displayName ?? "os" }
}

extension Platform {
    /// The name as it is written for people: `iOS`.
    package var displayName: String {
        switch name {
        case "ios": "iOS"
        case "macos": "macOS"
        case "tvos": "tvOS"
        case "watchos": "watchOS"
        case "visionos": "visionOS"
        case "android": "Android"
        case "windows": "Windows"
        case "linux": "Linux"
        default: name
        }
    }
}
