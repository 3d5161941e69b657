/// A version of an app on a platform that users can get, or will be able to.
package struct Release: PolicyRecord {
    /// The row's id; 0 for a release that the database does not have yet.
    package var id: Int64

    /// The app's bundle; ASCII case does not count.
    package var bundle: String

    /// The platform; ASCII case does not count.
    package var platform: String

    /// The version as it was written.
    package var version: String

    /// The build as it was written, where it is recorded.
    package var build: String?

    /// The minimum version of the operating system; `nil`: any.
    package var minOS: String?

    /// The codes of the regions where it is available; `nil`: everywhere.
    package var regions: [String]?

    /// When it becomes available; `nil`: not known yet.
    package var liveAt: Timestamp?

    /// Whether it is still in a staged rollout of the store, so that not every user can get it.
    package var staged: Bool

    /// When it stops being available; `nil`: never.
    package var withdrawnAt: Timestamp?

    /// For the people who edit; never sent. `nil` also where notes were not read.
    package var note: String?

    /// What is new in the release, each language once.
    package var notes: [ReleaseNote]

    /// A release with these columns.
    package init(
        id: Int64,
        bundle: String,
        platform: String,
        version: String,
        build: String? = nil,
        minOS: String? = nil,
        regions: [String]? = nil,
        liveAt: Timestamp? = nil,
        staged: Bool = false,
        withdrawnAt: Timestamp? = nil,
        note: String? = nil,
        notes: [ReleaseNote] = []
    ) {
        self.id = id
        self.bundle = bundle
        self.platform = platform
        self.version = version
        self.build = build
        self.minOS = minOS
        self.regions = regions
        self.liveAt = liveAt
        self.staged = staged
        self.withdrawnAt = withdrawnAt
        self.note = note
        self.notes = notes
    }

    /// The version as it was written and, where one is recorded, the build: `1.2 (42)`.
    package var label: String {
        build.map { "\(version) (\($0))" } ?? version
    }
}

extension Release {
    /// `releases`
    package static let table = PolicyTable.releases

    /// A release without an app, a platform and a version.
    package static let blank = Release(id: 0, bundle: "", platform: "", version: "")

    /// The columns that people edit.
    package static let columns: [PolicyColumn<Release>] = [
        .init("bundle", \.bundle, .bundle, role: .identity, isRequired: true),
        .init("version", \.version, .version, role: .identity, isRequired: true),
        .init("platform", \.platform, .platform, role: .identity, isRequired: true),
        .init("build", \.build, .version, role: .condition),
        .init("min_os", \.minOS, .version, role: .condition, storedName: "minOS"),
        .init("regions", \.regions, .texts, role: .condition),
        .init("live_at", \.liveAt, .time, role: .condition),
        .init("staged", \.staged, .boolean, role: .condition),
        .init("withdrawn_at", \.withdrawnAt, .time, role: .condition),
        .init("note", \.note, .text, role: .note),
    ]
}

/// What is new in a release, in one language.
package struct ReleaseNote: PolicyRecord {
    /// The tag of the notes for whoever has none of the other languages: BCP 47's for a language that is not determined.
    package static let anyLanguage = "und"

    /// The language, a BCP 47 tag; ASCII case does not count.
    package var language: String

    /// The notes, in which nothing is filled in.
    package var text: String

    /// Notes in a language.
    package init(language: String = Self.anyLanguage, text: String) {
        self.language = language
        self.text = text
    }
}

extension ReleaseNote {
    /// `release_notes`
    package static let table = PolicyTable.releaseNotes

    /// Notes in no language, without words.
    package static let blank = ReleaseNote(text: "")

    /// The columns that people edit.
    package static let columns: [PolicyColumn<ReleaseNote>] = [
        .init("language", \.language, .language, role: .identity, isRequired: true),
        .init("text", \.text, .text, role: .message, isRequired: true),
    ]

    /// The release, by its id.
    package static let owner: ColumnDefinition? = ColumnDefinition(
        "release", .bigInteger, role: .identity, default: nil, example: nil
    )
}
