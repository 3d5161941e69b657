// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

public import UpdatePolicy

/// What update clients misjudge in the versions of an app's releases on a platform.
///
/// Each version that users may have is compared with the newest release, as each client of the platform compares them and
/// as versiongate does.
public struct ReleaseLint: Sendable {
    /// What one client makes of some versions, for one reason.
    public struct Finding: Sendable {
        /// What comes of it for users.
        public enum Kind: String, Sendable {
            /// The client asks nobody to update to the newest release.
            case asksNobody = "asks-nobody"
            /// It never asks users of some older versions.
            case neverAsks = "never-asks"
            /// It asks users for whom there is no update.
            case asksInVain = "asks-in-vain"
            /// The app ends.
            case crashes
        }

        /// What in the spelling of the versions is the reason.
        public enum Cause: String, Sendable {
            /// One of them is a pre-release: `1.2-beta`, `1.2b3`.
            case preRelease = "pre-release"
            /// There is more than numbers and dots: `v1.2`, `1.2+45`, `1.2 (45)`.
            case affix
            /// One of them has more than three parts.
            case moreThanThreeParts = "more-than-three-parts"
            /// One of them has more parts than the other.
            case differentParts = "different-parts"
            /// A part begins with a zero: `1.05`.
            case leadingZero = "leading-zero"
            /// A part is above 999.
            case largeNumber = "large-number"
            /// The client compares builds, and these are in another order than the versions.
            case builds
        }

        /// The client.
        public let client: ClientComparison
        /// What comes of it.
        public let kind: Kind
        /// The reason.
        public let cause: Cause
        /// The version that users have, an example, as it is written; with its build where the client compares builds.
        public let installed: String
        /// The newest release, in the same form.
        public let offered: String
        /// How many more versions the same holds for.
        public let others: Int
        /// The finding in words, without a full stop.
        public let sentence: String
    }

    /// The platform, in lower case.
    public let platform: String

    /// The findings by client, in the order of `ClientComparison`.
    public let findings: [Finding]

    /// How to write versions that no client misjudges, as a sentence; `nil` where there are no findings.
    public let recommendation: String?

    /// Judges the releases of one platform.
    ///
    /// - Parameters:
    ///   - platform: The platform.
    ///   - releases: Releases of one app; those of other platforms do not count. The newest is the greatest that is not
    ///     withdrawn, also where nobody can get it yet. All count as versions that users have.
    ///   - versionsInUse: Versions that users have, whether or not they were recorded as releases, those first that are the
    ///     best examples. What cannot be read does not count.
    ///   - time: A release that is withdrawn at this time is not the newest.
    public init(platform: String, releases: [Release], versionsInUse: [String] = [], at time: Timestamp) {
        self.platform = Platform(platform).name
        let own = releases.filter { [name = self.platform] in Platform($0.platform).name == name }
        let isOffered = { (release: Release) in !release.isWithdrawn(at: time) }
        let versions =
            LintedVersion.greatestFirst(own.filter(isOffered)).prefix(1)
            + LintedVersion.greatestFirst(own)
            + versionsInUse.compactMap { LintedVersion(version: $0, build: nil) }
        guard let newest = versions.first, own.contains(where: isOffered) else {
            findings = []
            recommendation = nil
            return
        }
        findings = ClientComparison.allCases
            .filter { [name = self.platform] in $0.platforms.contains(name) }
            .flatMap { ClientLint($0, newest: newest, versions: Array(versions)).findings }
        recommendation = findings.isEmpty ? nil : Self.recommendation(for: versions.map(\.version.text))
    }

    /// - Parameter versions: The versions that users have. Where all have the same number of parts, new ones should as well.
    private static func recommendation(for versions: [String]) -> String {
        let counts = Set(versions.map { Spelling($0).numbers.count })
        let count = counts.count == 1 ? min(counts.first ?? 3, 3) : 3
        let form = [("one number", "12"), ("two numbers", "1.2"), ("three numbers", "1.2.0")][count - 1]
        return
            "Write all new versions with \(form.0) from 0 to 999, without leading zeros, letters and suffixes, as in "
            + "\(form.1): all clients compare such versions alike. Leave those in use as they are spelled."
    }
}

/// A version that is linted, perhaps with a build.
private struct LintedVersion {
    let version: AppVersion
    let build: AppVersion?

    init?(version: String, build: String?) {
        guard let version = AppVersion(version) else { return nil }
        self.version = version
        self.build = build.flatMap { AppVersion($0) }
    }

    static func greatestFirst(_ releases: [Release]) -> [LintedVersion] {
        releases.compactMap { LintedVersion(version: $0.version, build: $0.build) }.sorted { left, right in
            if left.version != right.version { return right.version < left.version }
            guard let build = left.build else { return false }
            return right.build.map { $0 < build } ?? true
        }
    }
}

/// What one client makes of some versions beside the newest.
private struct ClientLint {
    private let client: ClientComparison
    private let newest: LintedVersion
    private let comparesBuilds: Bool
    private let versions: [LintedVersion]
    /// Whether the client can never read the newest release.
    private let isNewestAtFault: Bool
    private let asksSomebody: Bool

    init(_ client: ClientComparison, newest: LintedVersion, versions: [LintedVersion]) {
        self.client = client
        self.newest = newest
        comparesBuilds = client == .sparkle && newest.build != nil
        var known: Set<String> = []
        let (comparesBuilds, comparedText) = (comparesBuilds, Self.comparedText)
        let different = versions.filter { version in
            guard !comparesBuilds || version.build != nil else { return false }
            return known.insert(version.version.text + (comparesBuilds ? " " + comparedText(version, true) : ""))
                .inserted
        }
        self.versions = different
        isNewestAtFault = client.isUndecided(comparedText(newest, comparesBuilds))
        asksSomebody = different.contains { version in
            version.version < newest.version
                && client.outcome(
                    installed: comparedText(version, comparesBuilds),
                    offered: comparedText(newest, comparesBuilds)
                ) == .newer
        }
    }

    /// One finding for each kind and cause, in the order of their first example.
    var findings: [ReleaseLint.Finding] {
        var groups: [(first: Misjudgement, others: Int)] = []
        for misjudgement in versions.compactMap(misjudgement) {
            let index = groups.firstIndex { ($0.first.kind, $0.first.cause) == (misjudgement.kind, misjudgement.cause) }
            if let index { groups[index].others += 1 } else { groups.append((misjudgement, 0)) }
        }
        return groups.map { group in
            ReleaseLint.Finding(
                client: client,
                kind: group.first.kind,
                cause: group.first.cause,
                installed: label(group.first.installed),
                offered: label(newest),
                // That nobody is asked is said of all at once.
                others: group.first.kind == .asksNobody ? 0 : group.others,
                sentence: group.first.sentence
            )
        }
    }

    private struct Misjudgement {
        let kind: ReleaseLint.Finding.Kind
        let cause: ReleaseLint.Finding.Cause
        let installed: LintedVersion
        let sentence: String
    }

    /// - Returns: `nil` where the client comes to the same decision as versiongate.
    private func misjudgement(_ installed: LintedVersion) -> Misjudgement? {
        let (text, offered) = (comparedText(installed), comparedText(newest))
        let (own, other, name) = (label(installed), label(newest), client.name)
        let order = ownOrder(installed)

        func finding(_ kind: ReleaseLint.Finding.Kind, at fault: String? = nil, _ sentence: String) -> Misjudgement {
            let cause = comparesBuilds ? .builds : Spelling.cause(fault.map { [$0] } ?? [text, offered])
            return Misjudgement(kind: kind, cause: cause, installed: installed, sentence: sentence)
        }

        switch client.outcome(installed: text, offered: offered) {
        case .newer:
            switch order {
            case .equal:
                return finding(
                    .asksInVain,
                    "\(own) and \(other) are the same version; \(name) takes \(other) for an update and asks again after it"
                )
            case .older:
                return finding(.asksInVain, "\(own) is newer than \(other); \(name) takes \(other) for an update")
            default: return nil
            }
        case .older where order == .newer:
            return finding(.neverAsks, "\(own) is newer than \(other) for \(name): its users are never asked")
        case .equal where order == .newer:
            return finding(.neverAsks, "\(own) and \(other) are the same for \(name): users of \(own) are never asked")
        case .older, .equal: return nil
        case .undecidable(.crash):
            let fault = isNewestAtFault ? offered : text
            return finding(.crashes, at: fault, "\(Spelling.fault(of: fault)): \(name) crashes on it")
        case .undecidable(.refused):
            guard order == .newer else { return nil }
            return finding(
                .neverAsks,
                "\(own) and \(other) have different numbers of parts: \(name) does not compare them, and asks users of "
                    + "\(own) by version code alone"
            )
        case .undecidable(let reason):
            let countsAsZero = reason == .assertion
            let reading = countsAsZero ? "takes it for 0" : "cannot read it"
            if isNewestAtFault, !asksSomebody {
                return finding(
                    .asksNobody,
                    at: offered,
                    "\(Spelling.fault(of: offered)): \(name) \(reading) and asks nobody"
                )
            }
            if countsAsZero, order != .newer {
                return finding(
                    .asksInVain,
                    at: text,
                    "\(Spelling.fault(of: text)): \(name) \(reading) and asks its users at every start"
                )
            }
            guard !countsAsZero, order == .newer else { return nil }
            let fault = isNewestAtFault ? offered : text
            return finding(
                .neverAsks,
                at: fault,
                "\(Spelling.fault(of: fault)): \(name) \(reading) and never asks users of \(own)"
            )
        }
    }

    /// What versiongate makes of the newest release, for somebody who has a version.
    private func ownOrder(_ installed: LintedVersion) -> ComparisonOutcome {
        if installed.version != newest.version || !comparesBuilds {
            return ComparisonOutcome(installed.version, newest.version)
        }
        guard let build = installed.build, let offered = newest.build else { return .equal }
        return ComparisonOutcome(build, offered)
    }

    private func comparedText(_ version: LintedVersion) -> String { Self.comparedText(version, comparesBuilds) }

    private static func comparedText(_ version: LintedVersion, _ comparesBuilds: Bool) -> String {
        comparesBuilds ? version.build?.text ?? version.version.text : version.version.text
    }

    private func label(_ version: LintedVersion) -> String {
        guard comparesBuilds, let build = version.build else { return version.version.text }
        return "\(version.version.text) (\(build.text))"
    }
}

/// How a version is written that can be read.
private struct Spelling {
    /// The digits of each part.
    let numbers: [Substring]
    private let isPreRelease: Bool
    private let hasAffix: Bool

    init(_ text: String) {
        let isNumber = { (character: Character) in NumberedParts.isDigit(character) || character == "." }
        let body = text.drop { !isNumber($0) }
        let prefix = body.prefix(while: isNumber)
        numbers = prefix.split(separator: ".")
        let rest = body.dropFirst(prefix.count).drop { $0 == " " }
        isPreRelease = rest.first.map { $0 == "-" || $0.isLetter } ?? false
        hasAffix = prefix.count != text.count
    }

    /// What in the spelling of versions clients misjudge, where they misjudge any of it.
    static func cause(_ texts: [String]) -> ReleaseLint.Finding.Cause {
        let spellings = texts.map(Spelling.init)
        if spellings.contains(where: \.isPreRelease) { return .preRelease }
        if spellings.contains(where: \.hasAffix) { return .affix }
        if spellings.contains(where: { $0.numbers.count > 3 }) { return .moreThanThreeParts }
        if Set(spellings.map(\.numbers.count)).count > 1 { return .differentParts }
        if spellings.contains(where: { $0.numbers.contains { $0.count > 1 && $0.hasPrefix("0") } }) {
            return .leadingZero
        }
        return .largeNumber
    }

    /// A version with what a client cannot read of it.
    static func fault(of text: String) -> String {
        switch cause([text]) {
        case .preRelease: "\(text) is a pre-release"
        case .affix: "\(text) has more than numbers and dots"
        case .moreThanThreeParts: "\(text) has \(Spelling(text).numbers.count) parts"
        case .leadingZero: "\(text) has a leading zero"
        default: "\(text) has a number that is too large"
        }
    }
}

extension ClientComparison {
    /// The name of the client, or of those that compare so.
    public var name: String {
        switch self {
        case .iVersion163: "iVersion up to 1.6.3"
        case .numericSearch: "iVersion (and Siren up to 6)"
        case .siren7: "Siren 7"
        case .updates: "Updates"
        case .updatesBuild: "Updates comparing builds"
        case .princeOfVersions: "Prince of Versions"
        case .versionToInt: "a hand-written look-up (versionToInt)"
        case .twist: "Twist"
        case .sparkle: "Sparkle"
        case .upgrader: "upgrader"
        case .reactNativeVersionCheck: "react-native-version-check"
        case .codePush: "CodePush"
        case .appUpdater: "AppUpdater"
        case .androidSiren: "Android-Siren"
        }
    }

    /// The platforms on which a client compares versions so.
    ///
    /// None for Twist and CodePush: in these, the server compares.
    public var platforms: [String] {
        switch self {
        case .iVersion163, .numericSearch, .princeOfVersions: ["ios", "macos"]
        case .siren7, .updates, .updatesBuild, .versionToInt: ["ios"]
        case .sparkle: ["macos"]
        case .upgrader: ["android", "fuchsia", "ios", "linux", "macos", "web", "windows"]
        case .reactNativeVersionCheck: ["android", "ios"]
        case .appUpdater, .androidSiren: ["android"]
        case .twist, .codePush: []
        }
    }

    /// Whether a client comes to no result for a version, even beside itself.
    fileprivate func isUndecided(_ version: String) -> Bool {
        if case .undecidable = outcome(installed: version, offered: version) { return true }
        return false
    }
}
