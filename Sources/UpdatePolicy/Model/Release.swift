/// A version of an app on a platform that users can get, or will be able to.
package struct Release: PolicyRecord {
    /// The row's id; 0 for a release that the database does not have yet.
    package var id: Int64

    /// The app's bundle; ASCII case does not count.
    package var bundle: String

    /// The platform; ASCII case does not count.
    package var platform: String

    package var version: String
    package var build: String?
    package var minOS: String?

    /// The codes of the regions where it is available; `nil`: everywhere.
    package var regions: [String]?

    /// When it becomes available; `nil`: not known yet.
    package var liveAt: Timestamp?

    /// Whether it is still in a staged rollout of the store, so that not every user can get it.
    package var staged = false

    /// When it stops being available; `nil`: never.
    package var withdrawnAt: Timestamp?

    /// For the people who edit; never sent. `nil` also where notes were not read.
    package var note: String?

    /// What is new in the release, each language once.
    package var notes: [ReleaseNote] = []

    package init(
        id: Int64 = 0,
        bundle: String,
        platform: String,
        version: String,
        _ change: (inout Release) -> Void = { _ in }
    ) {
        (self.id, self.bundle, self.platform, self.version) = (id, bundle, platform, version)
        change(&self)
    }

    /// The version as it was written and, where one is recorded, the build: `1.2 (42)`.
    package var label: String {
        build.map { "\(version) (\($0))" } ?? version
    }

    package static let table = PolicyTable.releases
    package static let blank = Release(bundle: "", platform: "", version: "")

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

package struct ReleaseNote: PolicyRecord {
    /// The tag of the notes for whoever has none of the other languages: BCP 47's for a language that is not determined.
    package static let anyLanguage = "und"

    /// The language, a BCP 47 tag; ASCII case does not count.
    package var language: String

    /// The notes, in which nothing is filled in.
    package var text: String

    package init(language: String = Self.anyLanguage, text: String) {
        (self.language, self.text) = (language, text)
    }

    package static let table = PolicyTable.releaseNotes
    package static let blank = ReleaseNote(text: "")

    package static let columns: [PolicyColumn<ReleaseNote>] = [
        .init("language", \.language, .language, role: .identity, isRequired: true),
        .init("text", \.text, .text, role: .message, isRequired: true),
    ]

    package static let owner: ColumnDefinition? = ColumnDefinition(
        "release", .bigInteger, role: .identity, default: nil, example: nil
    )
}
