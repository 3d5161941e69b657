// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import PolicyStore
import Postgres
import UpdatePolicy

/// What a store has of an app, in one country or wherever it is asked without one.
struct StoreFinding: Sendable {
    let country: String?
    let release: StoreRelease
}

/// What has to be done so that the releases of an app are what a store has.
struct StoreDecision {
    /// What is not recorded.
    struct Refusal: Sendable {
        let error: CommandError
        /// Whether somebody has to look at it.
        let isFailure: Bool
    }

    /// The name of the tool in the history.
    static let tool = "store"
    private static let platform = "ios"

    /// The columns that rows lack, by the ids of the rows.
    private var completions: [(id: Int64, values: [ColumnValue<Release>], lacksTime: Bool)] = []
    private var additions: [(release: StoreRelease, regions: [String]?)] = []
    private(set) var refusals: [Refusal] = []
    private let bundle: String

    /// Whether nothing has to be done.
    var isEmpty: Bool { completions.isEmpty && additions.isEmpty }

    /// Compares what a store has with what is recorded.
    init(_ found: [StoreFinding], of bundle: String, _ session: PostgresSession) throws {
        self.bundle = bundle
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        let now = try CommandClock(session).now
        let rows = policy.releases.filter {
            ASCII.lowercased($0.bundle) == ASCII.lowercased(bundle) && $0.platform == Self.platform
        }
        let history = try PolicyHistory(session)
        for release in found.map(\.release).distinct() {
            var countries: [String?] = []
            for finding in found where finding.release == release {
                let newer = rows.first { $0.isLive(at: now, in: finding.country) && $0.isAbove(release) }
                guard let newer else {
                    countries.append(finding.country)
                    continue
                }
                refuse(release, "older than \(newer.version), which is recorded", in: finding.country)
            }
            guard !countries.isEmpty else { continue }
            let same = rows.filter { AppVersion($0.version) == release.parsed }
            var areOwn = true
            for row in same {
                let origin = try history.origin(ofRelease: row.id, tool: Self.tool)
                areOwn = areOwn && origin.isOfTool && !origin.editedByOthers.contains("regions")
                if countries.contains(where: { row.isIn($0) }) { complete(row, release, origin.editedByOthers) }
            }
            let missing = countries.filter { country in !same.contains { $0.isIn(country) } }
            guard !missing.isEmpty, areOwn else { continue }
            if same.isEmpty {
                if let change = try history.removal(
                    ofRelease: release.version,
                    of: bundle,
                    on: Self.platform,
                    notBy: Self.tool
                ) {
                    refuse(release, "was removed by change \(change)")
                    continue
                }
                if let newest = rows.compactMap({ AppVersion($0.version) }).max(),
                    Release.isFar(release.parsed, above: newest)
                {
                    refuse(release, "far above \(newest), the newest that is recorded", isFailure: true)
                    continue
                }
            }
            additions.append((release, missing.contains(nil) ? nil : missing.compactMap(\.self).sorted()))
        }
    }

    private mutating func complete(_ row: Release, _ release: StoreRelease, _ editedByOthers: Set<String>) {
        guard row.withdrawnAt == nil, !row.staged else { return }
        var values: [ColumnValue<Release>] = []
        if row.minOS == nil, let minOS = release.minOS, !editedByOthers.contains("min_os") {
            values.append(ColumnValue(\.minOS, minOS))
        }
        let lacksTime = row.liveAt == nil && !editedByOthers.contains("live_at")
        if !values.isEmpty || lacksTime { completions.append((row.id, values, lacksTime)) }
    }

    private mutating func refuse(
        _ release: StoreRelease,
        _ reason: String,
        in country: String? = nil,
        isFailure: Bool = false
    ) {
        let place = country.map { " in \($0)" } ?? ""
        let command = "release add \(bundle) \(release.version) --platform \(Self.platform)"
        let cure = isFailure ? "; if it is meant: \(PrintedCommand(command))" : ""
        refusals.append(
            Refusal(
                error: CommandError("\(release.version) of \(bundle)\(place) is not recorded: \(reason)\(cure)"),
                isFailure: isFailure
            )
        )
    }

    /// Edits the releases.
    func make(_ editor: PolicyEditor, now: Timestamp) throws {
        for row in completions {
            try editor.update(
                where: [.id(row.id)],
                set: row.values + (row.lacksTime ? [.init(\Release.liveAt, now)] : [])
            )
        }
        for (release, regions) in additions {
            try editor.insert(
                [
                    .init(\Release.bundle, bundle), .init(\.version, release.version), .init(\.platform, Self.platform),
                    .init(\.minOS, release.minOS), .init(\.regions, regions), .init(\.liveAt, now),
                ]
            )
        }
    }
}

extension Release {
    /// Whether users in a country have it, as far as its row says; a row for some countries counts where none is named.
    fileprivate func isIn(_ country: String?) -> Bool {
        guard let regions, let country else { return true }
        return regions.contains(country)
    }

    fileprivate func isLive(at time: Timestamp, in country: String?) -> Bool { isLive(at: time) && isIn(country) }

    fileprivate func isAbove(_ release: StoreRelease) -> Bool {
        AppVersion(version).map { $0 > release.parsed } ?? false
    }
}

extension Sequence where Element: Hashable {
    /// Each element once, where it first stands.
    fileprivate func distinct() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
