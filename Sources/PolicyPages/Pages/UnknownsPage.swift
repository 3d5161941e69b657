import PolicyStore
import Postgres
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

    func response(_ figures: Figures?, _ scene: PageScene) -> PageResponse {
        let names = scene.facts.unknowns
        let known = scene.facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        let view: JSONValue = [
            "frame": scene.frame(in: .unknowns), "isWhole": figures != nil, "unknown": figures?.unknownChecks,
            "since": figures.map { scene.time($0.countsSince) },
            "bundles": names.bundles.prefix(Self.mostRows).map { entry -> JSONValue in
                [
                    "name": entry.name, "checks": Self.text(entry),
                    "meant": SimilarNames.of(entry.name, among: known).first,
                    "isBundle": entry.name.isBundleIdentifier,
                    "command": entry.name.isBundleIdentifier
                        ? PrintedCommand.text("app add \(entry.name.shellOperand)") : "",
                ]
            },
            "languages": names.languages.prefix(Self.mostRows).map { entry -> JSONValue in
                ["name": entry.name, "checks": Self.text(entry)]
            },
            "groups": figures.map { Self.groups($0.versions, scene) }, "edits": Self.edits,
        ]
        return PageTemplates.all.page("unknowns", view)
    }

    private static func text(_ entry: UnknownNames.Entry) -> String {
        entry.error == 0
            ? NumberText.count(Int64(entry.checks))
            : "\(NumberText.count(Int64(entry.checks - entry.error))) to \(NumberText.count(Int64(entry.checks)))"
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

    /// Checks of one kind: its app, and the version or platform that nobody configured.
    private struct Kind: Hashable {
        let bundle: String
        let name: String
        var platform: String?
    }

    /// The counted kinds that nobody configured.
    private static func groups(_ counts: [VersionCount], _ scene: PageScene) -> [JSONValue] {
        var known: [String: Known] = [:]
        var (platforms, unreadable): ([Kind: Int64], [Kind: Int64]) = ([:], [:])
        var (preReleases, unreleased): ([Kind: Int64], [Kind: Int64]) = ([:], [:])
        for count in counts {
            guard let section = scene.facts.policy?.section(ofApp: count.bundle), let bundle = section.app?.bundle
            else { continue }
            let facts = known[bundle] ?? Known(section)
            known[bundle] = facts
            let platform = count.platform ?? ""
            let read = count.version.flatMap { AppVersion($0) }
            if let version = count.version, read == nil {
                unreadable[Kind(bundle: bundle, name: version, platform: platform), default: 0] += count.checks
            } else if !platform.isEmpty, !facts.platforms.isEmpty, !facts.platforms.contains(platform) {
                platforms[Kind(bundle: bundle, name: platform), default: 0] += count.checks
            } else if let version = count.version, let read, let released = facts.releases[platform],
                !released.contains(read)
            {
                let kind = Kind(bundle: bundle, name: version, platform: platform)
                if read.isPreRelease, AppVersion(read.writtenNumbers).map(released.contains) ?? false {
                    preReleases[kind, default: 0] += count.checks
                } else {
                    unreleased[kind, default: 0] += count.checks
                }
            }
        }
        return [
            group("platforms", "Platforms without a release, a store link or a rule", platforms, ofVersions: false),
            group(
                "unreadable", "Versions that cannot be read", note: "No rule with versions or a target reaches them.",
                unreadable
            ),
            group(
                "prereleases",
                "Versions that are read as pre-releases of a release",
                note:
                    "Each is below the release with its numbers: a target of that release asks for it at every start.",
                preReleases
            ), group("unreleased", "Versions that are no release", unreleased),
        ]
    }

    private static func group(
        _ id: String,
        _ title: String,
        note: String? = nil,
        _ counts: [Kind: Int64],
        ofVersions: Bool = true
    ) -> JSONValue {
        func order(_ kind: Kind) -> [String] { [kind.bundle, kind.name, kind.platform ?? ""] }
        let most = counts.sorted { left, right in
            left.value != right.value
                ? left.value > right.value : order(left.key).lexicographicallyPrecedes(order(right.key))
        }
        let rows = most.prefix(mostRows).map { kind, checks -> JSONValue in
            [
                "app": kind.bundle, "address": PageRoute.app(kind.bundle).path, "name": kind.name,
                "platform": kind.platform, "checks": NumberText.count(checks),
            ]
        }
        return ["id": id, "title": title, "note": note, "ofVersions": ofVersions, "rows": rows]
    }

    private static var edits: [JSONValue] {
        [
            PageScene.edit(
                "Add an app that asks", "app add BUNDLE", sql: "INSERT INTO apps (bundle) VALUES ('BUNDLE');"
            ),
            PageScene.edit(
                "Record a release that is out",
                "release add BUNDLE VERSION --platform PLATFORM --min-os OS --live-at now",
                sql: "INSERT INTO releases (bundle, platform, version, min_os, live_at)"
                    + " VALUES ('BUNDLE', 'PLATFORM', 'VERSION', 'OS', now());"
            ),
            PageScene.edit(
                "Write a message in another language", "rule translate KEY LANGUAGE --title TITLE --text TEXT",
                sql: "INSERT INTO rule_texts (rule, language, title, text) VALUES ('KEY', 'LANGUAGE', 'TITLE', 'TEXT');"
            ),
        ]
    }
}
