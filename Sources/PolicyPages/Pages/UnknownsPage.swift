import Hummingbird
import PolicyStore
import Reports
import UpdatePolicy

extension Page {
    private static let mostKinds = 20_000
    private static let mostRows = 50

    /// What a table with so many rows is folded into.
    private static func fold(_ count: Int, _ noun: String) -> String? {
        count > 5 ? "Show \(min(count, mostRows)) \(noun)" : nil
    }

    /// `/unknowns`: what asks and nobody configured, or cannot be read.
    mutating func unknowns() throws -> Response {
        let known = facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        let none: Sentence = "This server has seen none since it started."
        let figures = try session.map { session in
            (
                status: try DatabaseStatus(session),
                versions: try CountReader(session).versionsOfLastDay(limit: Self.mostKinds)
            )
        }
        add(
            .text(
                "What clients send that nobody set up, or that cannot be read. None of it is an error: such checks match fewer rules."
            ),
            .heading("Apps that were not added", id: "bundles")
        )
        if let status = figures?.status, let checks = status.unknownChecks {
            add(.text("Since \(timeAndDistance: status.countsSince): \(checks)."))
        }
        add(
            .table(
                Table(
                    caption:
                        "The bundles that this server has seen most often since it started. It keeps them only in memory.",
                    summary: Self.fold(facts.unknownBundles.count, "bundles"), ifEmpty: none,
                    Array(facts.unknownBundles.prefix(Self.mostRows)),
                    columns: [
                        Column("Bundle", isName: true) { .text($0.name) }, Column("Checks") { .figure(Self.text($0)) },
                        Column("To add it") { .sentence(Self.cure(of: $0.name, among: known)) },
                    ]
                )
            ),
            .heading("Languages without a text", id: "languages"),
            .table(
                Table(
                    caption:
                        "Checks that got messages in the rules' own language, because there is no translation into theirs. One in 16 is sampled.",
                    summary: Self.fold(facts.unknownLanguages.count, "languages"), ifEmpty: none,
                    Array(facts.unknownLanguages.prefix(Self.mostRows)),
                    columns: [
                        Column("Language", isName: true) { .text($0.name) },
                        Column("Checks, about") { .figure(Self.text($0)) },
                    ]
                )
            )
        )
        add(
            figures.map { unconfigured($0.versions) }
                ?? [.text("Platforms and versions are not known here; the notice above says why.")]
        )
        add(
            edits: [
                Report.Edit(
                    "Add an app that asks", command: "app add BUNDLE",
                    sql: "INSERT INTO apps (bundle) VALUES ('BUNDLE');"
                ),
                Self.recording("Record a release that is out", "BUNDLE", platform: "PLATFORM", system: "OS"),
                Report.Edit(
                    "Write a message in another language",
                    command: "rule translate KEY LANGUAGE --title TITLE --text TEXT",
                    sql:
                        "INSERT INTO rule_texts (rule, language, title, text) VALUES ('KEY', 'LANGUAGE', 'TITLE', 'TEXT');"
                ),
            ]
        )
        return response("Unknowns", in: "/unknowns")
    }

    private static func cure(of bundle: String, among known: [String]) -> Sentence {
        let meant = SimilarNames.of(bundle, among: known).first.map {
            "did you mean \($0)? If it is a different app: "
        }
        return bundle.isBundleIdentifier
            ? "\(meant ?? "")\(command: "app add \(bundle.shellOperand)")"
            : "\(meant ?? "")no app can have this name"
    }

    private static func text(_ name: ServerFacts.UnknownName) -> String {
        let most = NumberText.count(Int64(name.checks))
        return name.error == 0 ? most : "\(NumberText.count(Int64(name.checks - name.error))) to \(most)"
    }

    /// The counted versions and platforms that nobody configured.
    func unconfigured(_ counts: [VersionCount]) -> [Report.Part] {
        var apps: [String: ConfiguredApp] = [:]
        // By why nobody did, the app, the version or platform, and beside a version its platform.
        var kinds: [[String]: Int64] = [:]
        for count in counts {
            guard let section = facts.policy?.section(ofApp: count.bundle), let bundle = section.app?.bundle
            else { continue }
            let app = apps[bundle] ?? ConfiguredApp(section)
            apps[bundle] = app
            if let (reason, name, platform) = app.unconfigured(count) {
                kinds[[reason.rawValue, bundle, name, platform], default: 0] += count.checks
            }
        }
        let groups: [(ConfiguredApp.Reason, String, Sentence?)] = [
            (.platforms, "Platforms without a release, a store link or a rule", nil),
            (.unreadable, "Versions that cannot be read", "No rule with versions or a target reaches them."),
            (
                .prereleases, "Versions that are read as pre-releases of a release",
                "Each is below the release with its numbers: a target of that release asks for it at every start."
            ), (.unreleased, "Versions that are not a release", nil),
        ]
        return groups.flatMap { reason, title, caption -> [Report.Part] in
            let most = kinds.filter { $0.key[0] == reason.rawValue }.sorted { left, right in
                left.value != right.value ? left.value > right.value : left.key.lexicographicallyPrecedes(right.key)
            }
            let table = Table(
                caption: caption, summary: Self.fold(most.count, reason == .platforms ? "platforms" : "versions"),
                ifEmpty: "None.", Array(most.prefix(Self.mostRows)),
                columns: [
                    Column("App", isName: true) { .link($0.key[1], .app($0.key[1])) },
                    Column(reason == .platforms ? "Platform" : "Version") { .text($0.key[2]) },
                    Column("On") { .text($0.key[3]) }, Column("Checks") { .count($0.value) },
                ]
            )
            return [.heading("\(title), in the last 24 hours", id: reason.rawValue), .table(table)]
        }
    }
}

/// What an app is known to have.
private struct ConfiguredApp {
    /// Why nobody configured a check.
    enum Reason: String { case platforms, unreadable, prereleases, unreleased }

    private let platforms: Set<String>
    private let releases: [String: Set<AppVersion>]

    init(_ section: PolicySection) {
        let releases = section.releases.map { (platform: Platform($0.platform).name, version: AppVersion($0.version)) }
        self.releases = Dictionary(grouping: releases, by: \.platform).mapValues { Set($0.compactMap(\.version)) }
        platforms = Set(
            releases.map(\.platform) + (section.app?.storeLinks.map { Platform($0.platform).name } ?? [])
                + section.rules.flatMap { $0.platforms ?? [] }.map { Platform($0).name }
        )
    }

    /// Why nobody configured some checks, and the version or platform that it hangs on; nil: somebody did.
    func unconfigured(_ count: VersionCount) -> (reason: Reason, name: String, platform: String)? {
        let platform = count.platform ?? ""
        let read = count.version.flatMap { AppVersion($0) }
        if let name = count.version, read == nil { return (.unreadable, name, platform) }
        if !platform.isEmpty, !platforms.isEmpty, !platforms.contains(platform) { return (.platforms, platform, "") }
        guard let name = count.version, let read, let released = releases[platform], !released.contains(read)
        else { return nil }
        let isPreRelease = read.isPreRelease && AppVersion(read.writtenNumbers).map(released.contains) ?? false
        return (isPreRelease ? .prereleases : .unreleased, name, platform)
    }
}
