final class CompiledApp: Sendable {
    /// A store link, prepared from the comma before its name on.
    struct Link: Sendable {
        let platform: Int32
        let link: String
        let bytes: [UInt8]
    }

    let index: Int
    let bundle: String

    /// The app's row; `nil` where the policy has none, and just something about its bundle.
    let row: App?

    /// The bundle where there is a row, which a check asks for without copying the row.
    let listedBundle: String?

    /// Whether the policy has nothing about its bundle: the app was removed, and only its number is kept.
    let isEmpty: Bool

    /// What stands for `{app}`.
    let displayName: String

    let isPaused: Bool
    let links: [Link]
    let releaseRows: [Release]

    let releases: [ReleaseList]

    let rules: RuleGroup?

    init(
        index: Int,
        bundle: String,
        row: App? = nil,
        links: [Link] = [],
        releaseRows: [Release] = [],
        releases: [ReleaseList] = [],
        rules: RuleGroup? = nil
    ) {
        self.index = index
        self.bundle = bundle
        self.row = row
        listedBundle = row == nil ? nil : bundle
        isEmpty = row == nil && releaseRows.isEmpty && rules == nil
        displayName = row?.name ?? bundle
        isPaused = row?.paused ?? false
        self.links = links
        self.releaseRows = releaseRows
        self.releases = releases
        self.rules = rules
    }

    var section: PolicySection {
        PolicySection(compiled: self, app: row, releases: releaseRows, rules: rules?.rows ?? [])
    }

    func releases(on platform: Int32) -> ReleaseList? { releases.first { $0.platform == platform } }
}
