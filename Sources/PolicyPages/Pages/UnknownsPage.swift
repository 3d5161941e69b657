// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyFigures
import PolicyStore
import Postgres
import UpdatePolicy

/// `/unknowns`: what asks and nobody configured, or cannot be read.
struct UnknownsPage {
    /// What is read from the database.
    struct Figures: Sendable {
        let versions: [VersionCount]
        let unknownChecks: ClosedRange<Int64>?
        let countsSince: Timestamp
    }

    private struct Row {
        let app: String
        let address: String
        let name: String
        let place: String
        let checks: String
    }

    private struct Name {
        let name: String
        let checks: String
        /// The app that may be meant.
        var meant = ""
        let command: String
        let sql: String
    }

    private struct View {
        let frame: PageScene.Frame
        let isWhole: Bool
        let unknown: String
        let since: [PageTime]
        let bundles: [Name]
        let hasBundles: Bool
        let languages: [Name]
        let hasLanguages: Bool
        let platforms: [Row]
        let hasPlatforms: Bool
        let unreadable: [Row]
        let hasUnreadable: Bool
        let unreleased: [Row]
        let hasUnreleased: Bool
        let edits: [EditView]
    }

    fileprivate static let mostKinds = 20_000
    private static let mostRows = 50

    private let figures: Figures?
    private let scene: PageScene

    init(_ figures: Figures?, _ scene: PageScene) {
        self.figures = figures
        self.scene = scene
    }

    var response: PageResponse {
        let kinds = sorted
        let names = scene.facts.unknowns
        let known = scene.facts.policy?.sections.compactMap { $0.app?.bundle } ?? []
        let unknown =
            figures?.unknownChecks.flatMap { $0.upperBound > 0 ? $0 : nil }.map { unknown in
                let least =
                    unknown.lowerBound == unknown.upperBound ? "" : "\(NumberText.count(unknown.lowerBound)) to "
                return "\(least)\(NumberText.checks(unknown.upperBound))"
            } ?? ""
        let view = View(
            frame: scene.frame("Unknowns", section: "/unknowns"),
            isWhole: figures != nil,
            unknown: unknown,
            since: figures.map { [scene.time($0.countsSince)] } ?? [],
            bundles: names.bundles.prefix(Self.mostRows).map { entry in
                Name(
                    name: entry.name,
                    checks: Self.text(entry),
                    meant: SimilarNames.of(entry.name, among: known).first ?? "",
                    command: PrintedCommand.text("app add \(entry.name.shellWord)"),
                    sql: "INSERT INTO apps (bundle) VALUES (\(entry.name.sqlLiteral));"
                )
            },
            hasBundles: !names.bundles.isEmpty,
            languages: names.languages.prefix(Self.mostRows).map {
                Name(name: $0.name, checks: Self.text($0), command: "", sql: "")
            },
            hasLanguages: !names.languages.isEmpty,
            platforms: kinds.platforms,
            hasPlatforms: !kinds.platforms.isEmpty,
            unreadable: kinds.unreadable,
            hasUnreadable: !kinds.unreadable.isEmpty,
            unreleased: kinds.unreleased,
            hasUnreleased: !kinds.unreleased.isEmpty,
            edits: [
                EditView(
                    what: "Add an app that asks",
                    command: PrintedCommand.text("app add BUNDLE"),
                    sql: "INSERT INTO apps (bundle) VALUES ('BUNDLE');"
                ),
                EditView(
                    what: "Record a release that is out",
                    command: PrintedCommand.text("release add BUNDLE VERSION --platform PLATFORM --live-at now"),
                    sql:
                        "INSERT INTO releases (bundle, platform, version, live_at) VALUES ('BUNDLE', 'PLATFORM', 'VERSION', now());"
                ),
                EditView(
                    what: "Write a message in another language",
                    command: PrintedCommand.text("rule translate KEY LANGUAGE --title TITLE --text TEXT"),
                    sql:
                        "INSERT INTO rule_texts (rule, language, title, text) VALUES ('KEY', 'LANGUAGE', 'TITLE', 'TEXT');"
                ),
            ]
        )
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

    /// The counted kinds that nobody configured, most checks first.
    private var sorted: (platforms: [Row], unreadable: [Row], unreleased: [Row]) {
        var known: [String: Known] = [:]
        var platforms: [[String]: Int64] = [:]
        var unreadable: [[String]: Int64] = [:]
        var unreleased: [[String]: Int64] = [:]
        for count in figures?.versions ?? [] {
            guard let section = scene.facts.policy?.section(ofApp: count.bundle), let app = section.app else {
                continue
            }
            let facts = known[app.bundle] ?? Known(section)
            known[app.bundle] = facts
            let platform = count.platform ?? ""
            if let version = count.version, AppVersion(version) == nil {
                unreadable[[app.bundle, version, platform], default: 0] += count.checks
            } else if !platform.isEmpty, !facts.platforms.isEmpty, !facts.platforms.contains(platform) {
                platforms[[app.bundle, platform, ""], default: 0] += count.checks
            } else if let version = count.version, let releases = facts.releases[platform],
                let read = AppVersion(version), !releases.contains(read)
            {
                unreleased[[app.bundle, version, platform], default: 0] += count.checks
            }
        }
        return (rows(platforms), rows(unreadable), rows(unreleased))
    }

    private func rows(_ counts: [[String]: Int64]) -> [Row] {
        let most = counts.sorted { left, right in
            left.value != right.value ? left.value > right.value : left.key.lexicographicallyPrecedes(right.key)
        }
        return most.prefix(Self.mostRows).map { names, checks in
            Row(
                app: names[0],
                address: Address.app(names[0]),
                name: names[1],
                place: names[2],
                checks: NumberText.count(checks)
            )
        }
    }
}

extension UnknownsPage.Figures {
    init(_ session: PostgresSession) throws {
        let status = try DatabaseStatus(session)
        unknownChecks = status.counts?.unknown
        countsSince = status.countsSince
        versions = try CountReader(session).versionsOfLastDay(limit: UnknownsPage.mostKinds)
    }
}
