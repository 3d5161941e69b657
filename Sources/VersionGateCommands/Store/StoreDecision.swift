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
    /// The name of the tool in the history.
    static let tool = "store"
    private static let platform = "ios"

    /// The columns that rows lack, by the ids of the rows.
    private var completions: [(id: Int64, values: [ColumnValue<Release>], lacksTime: Bool)] = []
    private var additions: [(release: StoreRelease, regions: [String]?)] = []
    /// What is not recorded, and whether somebody has to look at it.
    private(set) var refusals: [(error: CommandError, isFailure: Bool)] = []
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
        // What the store itself had within a day does not count, so that no series of answers leads far away.
        let yesterday = now.advanced(byMicroseconds: -86_400_000_000)
        let settled = try rows.filter { row in
            guard let time = row.liveAt, time > yesterday else { return true }
            return try !history.origin(ofRelease: row.id, tool: Self.tool).isOfTool
        }
        let known = (settled.isEmpty ? rows.min { $0.id < $1.id }.map { [$0] } ?? [] : settled)
            .compactMap { AppVersion($0.version) }
        for release in found.map(\.release).reduce(into: [StoreRelease](), { if !$0.contains($1) { $0.append($1) } }) {
            var countries: [String?] = []
            for finding in found where finding.release == release {
                let newer = rows.first { row in
                    guard row.isLive(at: now), row.isIn(finding.country) else { return false }
                    return AppVersion(row.version).map { $0 > release.parsed } ?? false
                }
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
                let version = release.version
                if let change = try history.removal(ofRelease: version, of: bundle, on: Self.platform, notBy: Self.tool)
                {
                    refuse(release, "was removed by change \(change)", isFailure: false)
                    continue
                }
                if release.leaps(above: known) {
                    let newest = known.max().map { "far above \($0), the newest that is recorded" }
                    let values = "--platform \(Self.platform) --min-os \(release.minOS.shellWord)"
                    refuse(
                        release, newest ?? "one of its numbers has more than nine digits",
                        cure: "release add \(bundle) \(version.shellWord) \(values)"
                    )
                    continue
                }
            }
            additions.append((release, missing.contains(nil) ? nil : missing.compactMap(\.self).sorted()))
        }
    }

    private mutating func complete(_ row: Release, _ release: StoreRelease, _ editedByOthers: Set<String>) {
        guard row.withdrawnAt == nil, !row.staged else { return }
        var values: [ColumnValue<Release>] = []
        if row.minOS == nil, !editedByOthers.contains("min_os") {
            values.append(ColumnValue(\.minOS, release.minOS))
        }
        let lacksTime = row.liveAt == nil && !editedByOthers.contains("live_at")
        if !values.isEmpty || lacksTime { completions.append((row.id, values, lacksTime)) }
    }

    private mutating func refuse(
        _ release: StoreRelease,
        _ reason: String,
        in country: String? = nil,
        cure command: String? = nil,
        isFailure: Bool = true
    ) {
        let place = country.map { " in \($0)" } ?? ""
        let cure = command.map { "; if it is meant: \(PrintedCommand($0))" } ?? ""
        let error = CommandError("\(release.version) of \(bundle)\(place) is not recorded: \(reason)\(cure)")
        refusals.append((error, isFailure))
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
}
