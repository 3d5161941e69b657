import PolicyStore
import Postgres
import UpdatePolicy

/// What has to be done so that the releases of an app are what a store has.
struct StoreDecision: Sendable {
    typealias Finding = (country: String?, release: StoreRelease)
    /// What is not recorded, and whether somebody has to look at it.
    typealias Refusal = (error: CommandError, isFailure: Bool)

    /// The name of the tool in the history.
    static let tool = "store"
    private static let platform = "ios"

    private(set) var edits: [@Sendable (_ editor: PolicyEditor, _ now: Timestamp) throws -> Void] = []
    private(set) var refusals: [Refusal] = []
    private let bundle: String

    /// Compares what a store has with what is recorded.
    init(_ found: [Finding], of bundle: String, _ session: PostgresSession) throws {
        self.bundle = bundle
        let policy = try PolicyReader.policy(session, bundles: [bundle])
        let now = try CommandClock(session).now
        let rows = policy.releases.filter { $0.platform == Self.platform }
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
            guard let version = AppVersion(release.version) else { continue }
            let countries = found.filter { $0.release == release }.map(\.country).filter { country in
                let newer = rows.first { row in
                    row.isLive(at: now) && row.isIn(country) && AppVersion(row.version).map { $0 > version } == true
                }
                guard let newer else { return true }
                let place = country.map { " in \($0)" } ?? ""
                return refuse("\(version) of \(bundle)\(place)", "older than \(newer.version), which is recorded")
            }
            let same = rows.filter { AppVersion($0.version) == version }
            var areOwn = true
            for row in same {
                let origin = try history.origin(ofRelease: row.id, tool: Self.tool)
                areOwn = areOwn && origin.isOfTool && !origin.editedByOthers.contains("regions")
                if countries.contains(where: row.isIn) { complete(row, release, origin.editedByOthers) }
            }
            let missing = countries.filter { country in !same.contains { $0.isIn(country) } }
            guard !missing.isEmpty, areOwn, try !same.isEmpty || mayAdd(release, known, history) else { continue }
            edits.append { editor, now in
                try editor.insert([
                    .init(\Release.bundle, bundle), .init(\.version, release.version), .init(\.platform, Self.platform),
                    .init(\.minOS, release.minOS), .init(\.liveAt, now),
                    .init(\.regions, missing.contains(nil) ? nil : missing.compactMap(\.self).sorted()),
                ])
            }
        }
    }

    /// Whether a version is added that is not recorded: not where somebody removed it, or where it is far above the others.
    private mutating func mayAdd(_ release: StoreRelease, _ known: [AppVersion], _ history: PolicyHistory) throws
        -> Bool
    {
        let (version, name) = (release.version, "\(release.version) of \(bundle)")
        if let change = try history.removal(ofRelease: version, of: bundle, on: Self.platform, notBy: Self.tool) {
            return refuse(name, "was removed by change \(change)", isFailure: false)
        }
        guard release.leaps(above: known) else { return true }
        let reason = known.max().map { "far above \($0), the newest that is recorded" }
        let command = "release add \(bundle) \(version.shellWord) --platform \(Self.platform)"
        let cure = PrintedCommand("\(command) --min-os \(release.minOS.shellWord)")
        return refuse(name, "\(reason ?? "one of its numbers has more than nine digits"); if it is meant: \(cure)")
    }

    /// Gives a row the columns that it lacks and nobody else cleared.
    private mutating func complete(_ row: Release, _ release: StoreRelease, _ editedByOthers: Set<String>) {
        guard row.withdrawnAt == nil, !row.staged else { return }
        let lacksMinOS = row.minOS == nil && !editedByOthers.contains("min_os")
        let lacksTime = row.liveAt == nil && !editedByOthers.contains("live_at")
        guard lacksMinOS || lacksTime else { return }
        edits.append { editor, now in
            let minOS: [ColumnValue<Release>] = lacksMinOS ? [.init(\.minOS, release.minOS)] : []
            try editor.update(where: [.id(row.id)], set: minOS + (lacksTime ? [.init(\.liveAt, now)] : []))
        }
    }

    /// Notes why a release is not recorded, and returns that it is not.
    private mutating func refuse(_ release: String, _ reason: String, isFailure: Bool = true) -> Bool {
        refusals.append((CommandError("\(release) is not recorded: \(reason)"), isFailure))
        return false
    }
}

extension Release {
    /// Whether users in a country have it, as far as its row says; a row for some countries counts where none is named.
    fileprivate func isIn(_ country: String?) -> Bool { country.flatMap { regions?.contains($0) } ?? true }
}

/// A version that a store has.
struct StoreRelease: Sendable, Hashable, Codable {
    let version: String
    /// The least version of iOS.
    let minOS: String

    /// Whether its version does not follow from those that are known.
    ///
    /// The first number may be 1 or a hundredth above the greatest there is at its place, each other 20 or a quarter: so
    /// years, dates and counters of builds go on. A number of more than nine digits is known or follows from none.
    func leaps(above known: [AppVersion]) -> Bool {
        let known = known.compactMap { Self.numbers($0.text) }
        guard let numbers = Self.numbers(version) else { return true }
        return numbers.indices.contains { place in
            guard !known.isEmpty else { return numbers[place] > 999_999_999 }
            let greatest = known.map { place < $0.count ? $0[place] : 0 }.max() ?? 0
            return numbers[place] - greatest > (place == 0 ? max(1, greatest / 100) : max(20, greatest / 4))
        }
    }

    /// The numbers that a version begins with; nil if there is one that no store counts to.
    private static func numbers(_ version: String) -> [Int]? {
        let digits = version.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "." }
        let numbers = digits.split(separator: ".").map { Int($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }
}
