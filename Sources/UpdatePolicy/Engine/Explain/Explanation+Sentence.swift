extension Explanation {
    /// What became of the rule, and why, in one sentence:
    /// `bad-1.1 is sent without the lockout: 1.2 needs iOS 15, this client has 14.`
    ///
    /// - Parameters:
    ///   - client: Whose check it was.
    ///   - moment: Writes a time for people.
    package func sentence(for client: Client, moment: @escaping (Timestamp) -> String) -> String {
        let words = ExplanationWords(explanation: self, client: client, moment: moment)
        switch outcome {
        case .sent:
            let reason = release.map { ": \($0) is available to this client" } ?? ""
            return "\(key) is sent\(lockout ? " with the lockout" : "")\(reason)\(words.readings)."
        case .sentWithoutLockout:
            return "\(key) is sent without the lockout: \(words.missingWayOut)."
        case .afterAFinalRule:
            return "\(key) is not sent: \(actual ?? "another rule") comes before it and is final."
        case .noMatch:
            return "\(key) is not sent: \(unmet.map { words.fault($0) } ?? "a condition is not met")."
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

    func fault(_ condition: Condition) -> String {
        let actual = explanation.actual
        switch condition {
        case .versions:
            return isFor(condition, meaning: VersionRange(expected).map { " (\($0.inWords))" } ?? "") + readings
        case .os:
            return noSystem.map { "it is for \(systemName) \(expected), and \($0)" }
                ?? isFor(condition, asked: "\(systemName) ")
        case .regions:
            guard let actual, client.region == nil else { return isFor(condition) }
            return "it is for \(expected), the client sent the region \(actual), which names no country"
        case .attributes:
            let name = explanation.condition.map { $0.split(separator: ".", maxSplits: 1).last.map(String.init) ?? $0 }
            return "it asks for \(name ?? "an attribute") \(expected), "
                + (actual.map { "this client sent \($0)" } ?? "the client did not send it")
        case .target:
            let target = String(expected.drop { "<>=".contains($0) })
            guard client.isBelow(target) else {
                let sent = client.hasUnreadableVersion ? "the client sent" : "this client has"
                let suffixes = client.version == AppVersion(target) ? ignoredSuffixes(of: [target, actual ?? ""]) : ""
                return
                    "it asks for \(target), \(actual.map { "\(sent) \($0)" } ?? "the client sent no version")\(suffixes)"
            }
            if let obstacle = explanation.obstacle { return text(obstacle) }
            if client.platform == nil { return "it waits for a release, the client sent no platform" }
            return "it asks for \(target), "
                + (actual.map { "the newest release for this client is \($0)" }
                    ?? "no release for \(systemName) reaches that")
        case .startsAt:
            return "it starts at \(time(after: "from "))"
        case .endsAt:
            return "it ended at \(time(after: "until "))"
        case .rollout:
            let hold = explanation.heldSince.map { ", held since \(moment($0))" } ?? ""
            let rollout = "the rollout is \(explanation.rollout) %\(hold)"
            guard explanation.rollout != .zero else { return rollout }
            guard let bucket = explanation.bucket.flatMap(Percentage.init(hundredths:)) else {
                return "the client sent no install, and \(rollout)"
            }
            return "\(rollout); this installation is not included until it passes \(bucket) %"
        case .enabled:
            return "it is disabled"
        case .paused:
            return "the app is paused"
        default:
            return isFor(condition)
        }
    }

    var missingWayOut: String {
        if let obstacle = explanation.obstacle { return text(obstacle) }
        if client.platform == nil { return "the client sent no platform, so no update is known for it" }
        guard let release = explanation.release else { return "no release for \(systemName) is known for this client" }
        let isNotAbove = explanation.actual?.hasPrefix(Explanation.notAbove) ?? false
        if let version = client.version, isNotAbove {
            let newest = "the newest release for this client is \(release)"
            guard version == AppVersion(release) else {
                let isPreRelease = AppVersion(release).map { $0.numbers == version.numbers } ?? false
                return "\(newest), which is not newer than its \(version)"
                    + (isPreRelease ? preRelease.map { "; \($0)" } ?? "" : "")
            }
            return "\(newest), the version that it has, and no build is recorded for it"
                + ignoredSuffixes(of: [release, version.text])
        }
        if isNotAbove {
            return "the client sent no version that can be read, so \(release) may be what it has"
        }
        return "\(release), the newest release for this client, is locked out as well"
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

    /// A condition on a member of the check, and what the client sent.
    private func isFor(_ condition: Condition, asked: String? = nil, meaning: String = "") -> String {
        let (what, had) = condition.words
        let sent = explanation.actual.map { "\(had) \($0)" } ?? "the client sent no \(condition.field?.name ?? "")"
        return "it is for \(asked ?? what)\(expected)\(meaning), \(sent)"
    }

    private func time(after prefix: String) -> String {
        Timestamp(String(expected.trimmingPrefix(prefix))).map(moment) ?? expected
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
            return "\(release) is for \(regions.joined(separator: ", ")), \(region)"
        case .os(let version):
            let os =
                noSystem.map { "and \($0)" } ?? client.os.map { "this client has \($0.text)" }
                ?? "the client sent no os that can be read"
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
