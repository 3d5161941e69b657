import Hummingbird
import PolicyStore
import Postgres
import Reports
import UpdatePolicy

/// `/unknowns`: what asks and nobody configured, or cannot be read.
struct UnknownsPage: Page {
    struct Figures: Sendable {
        let versions: [VersionCount]
        /// The checks of apps that were not added; nil: none, or not known.
        let unknownChecks: String?
        let countsSince: Timestamp
    }

    private static let mostKinds = 20_000
    private static let mostRows = 50

    func figures(_ session: PostgresSession) throws -> Figures {
        let status = try DatabaseStatus(session)
        return Figures(
            versions: try CountReader(session).versionsOfLastDay(limit: Self.mostKinds),
            unknownChecks: status.counts?.unknownChecks, countsSince: status.countsSince
        )
    }

    func response(_ figures: Figures?, _ context: PageContext) -> Response {
        let names = context.facts.unknowns
        let known = context.facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        var body = PageBody(context.notes)
        body.add(
            .text(
                "What clients send that nobody set up, or that cannot be read. None of it is an error: such checks match fewer rules."
            )
        )
        body.add(.heading("Apps that were not added", id: "bundles"))
        if let figures, let checks = figures.unknownChecks {
            body.add(.text("Since \(timeAndDistance: figures.countsSince): \(checks)."))
        }
        body.add(.table(Self.bundles(names.bundles, known)))
        body.add(.heading("Languages without a text", id: "languages"))
        body.add(
            .table(
                Table(
                    caption:
                        "Checks that got messages in the rules' own language, as none is translated into theirs. One of 16 is looked at.",
                    ifEmpty: "This server noted none since its start.", Array(names.languages.prefix(Self.mostRows)),
                    columns: [
                        Column("Language", isName: true) { .text($0.name) },
                        Column("Checks, about") { .figure(Self.text($0)) },
                    ]
                )
            )
        )
        if let figures {
            body.add(Self.groups(figures.versions, context))
        } else {
            body.add(.text("Platforms and versions are not known here; the notice above says why."))
        }
        body.add(edits: Self.edits)
        return context.page("Unknowns", in: "/unknowns", body)
    }

    private static func bundles(_ entries: [UnknownNames.Entry], _ known: [String]) -> Table {
        Table(
            caption: "The bundles that came most often to this server since its start. They are in its memory alone.",
            ifEmpty: "This server noted none since its start.", Array(entries.prefix(mostRows)),
            columns: [
                Column("Bundle", isName: true) { .text($0.name) }, Column("Checks") { .figure(text($0)) },
                Column("To add it") { entry in
                    let meant = SimilarNames.of(entry.name, among: known).first.map {
                        "did you mean \($0)? If it is an app of its own: "
                    }
                    return entry.name.isBundleIdentifier
                        ? .sentence("\(meant ?? "")\(command: "app add \(entry.name.shellOperand)")")
                        : .text("\(meant ?? "")no app can have this name")
                },
            ]
        )
    }

    private static func text(_ entry: UnknownNames.Entry) -> String {
        let most = NumberText.count(Int64(entry.checks))
        return entry.error == 0 ? most : "\(NumberText.count(Int64(entry.checks - entry.error))) to \(most)"
    }

    /// What an app is known to have.
    private struct Known {
        let platforms: Set<String>
        let releases: [String: Set<AppVersion>]

        init(_ section: PolicySection) {
            let releases = section.releases.map {
                (platform: Platform($0.platform).name, version: AppVersion($0.version))
            }
            self.releases = Dictionary(grouping: releases, by: \.platform).mapValues { Set($0.compactMap(\.version)) }
            platforms = Set(
                releases.map(\.platform) + (section.app?.storeLinks.map { Platform($0.platform).name } ?? [])
                    + section.rules.flatMap { $0.platforms ?? [] }.map { Platform($0).name }
            )
        }
    }

    /// Checks that nobody configured: the app, the version or platform, and beside a version its platform.
    private struct Kind: Hashable {
        enum Reason: Hashable { case platform, unreadable, preRelease, unreleased }
        let reason: Reason
        let bundle: String
        let name: String
        var platform = ""

        var order: [String] { [bundle, name, platform] }
    }

    /// Why nobody configured some checks; nil: somebody did.
    private static func kind(_ count: VersionCount, _ bundle: String, _ known: Known) -> Kind? {
        let platform = count.platform ?? ""
        func version(_ reason: Kind.Reason, _ name: String) -> Kind {
            Kind(reason: reason, bundle: bundle, name: name, platform: platform)
        }
        let read = count.version.flatMap { AppVersion($0) }
        if let name = count.version, read == nil { return version(.unreadable, name) }
        if !platform.isEmpty, !known.platforms.isEmpty, !known.platforms.contains(platform) {
            return Kind(reason: .platform, bundle: bundle, name: platform)
        }
        guard let name = count.version, let read, let released = known.releases[platform], !released.contains(read)
        else { return nil }
        let isPreRelease = read.isPreRelease && AppVersion(read.writtenNumbers).map(released.contains) ?? false
        return version(isPreRelease ? .preRelease : .unreleased, name)
    }

    /// The counted kinds that nobody configured.
    private static func groups(_ counts: [VersionCount], _ context: PageContext) -> [Report.Part] {
        var known: [String: Known] = [:]
        var kinds: [Kind: Int64] = [:]
        for count in counts {
            guard let section = context.facts.policy?.section(ofApp: count.bundle), let bundle = section.app?.bundle
            else { continue }
            let facts = known[bundle] ?? Known(section)
            known[bundle] = facts
            if let kind = kind(count, bundle, facts) { kinds[kind, default: 0] += count.checks }
        }
        let groups: [(Kind.Reason, String, String, Sentence?)] = [
            (.platform, "platforms", "Platforms without a release, a store link or a rule", nil),
            (
                .unreadable, "unreadable", "Versions that cannot be read",
                "No rule with versions or a target reaches them."
            ),
            (
                .preRelease, "prereleases", "Versions that are read as pre-releases of a release",
                "Each is below the release with its numbers: a target of that release asks for it at every start."
            ), (.unreleased, "unreleased", "Versions that are no release", nil),
        ]
        return groups.flatMap { reason, id, title, caption -> [Report.Part] in
            let most = kinds.filter { $0.key.reason == reason }.sorted { left, right in
                left.value != right.value
                    ? left.value > right.value : left.key.order.lexicographicallyPrecedes(right.key.order)
            }
            let table = Table(
                caption: caption, ifEmpty: "None.", Array(most.prefix(mostRows)),
                columns: [
                    Column("App", isName: true) { .link($0.key.bundle, .app($0.key.bundle)) },
                    Column(reason == .platform ? "Platform" : "Version") { .text($0.key.name) },
                    Column("On") { .text($0.key.platform) }, Column("Checks") { .count($0.value) },
                ]
            )
            return [.heading("\(title), in the last 24 hours", id: id), .table(table)]
        }
    }

    private static var edits: [Report.Edit] {
        [
            Report.Edit(
                "Add an app that asks", command: "app add BUNDLE", sql: "INSERT INTO apps (bundle) VALUES ('BUNDLE');"
            ),
            Report.Edit(
                "Record a release that is out",
                command: "release add BUNDLE VERSION --platform PLATFORM --min-os OS --live-at now",
                sql: "INSERT INTO releases (bundle, platform, version, min_os, live_at)"
                    + " VALUES ('BUNDLE', 'PLATFORM', 'VERSION', 'OS', now());"
            ),
            Report.Edit(
                "Write a message in another language",
                command: "rule translate KEY LANGUAGE --title TITLE --text TEXT",
                sql: "INSERT INTO rule_texts (rule, language, title, text) VALUES ('KEY', 'LANGUAGE', 'TITLE', 'TEXT');"
            ),
        ]
    }
}
