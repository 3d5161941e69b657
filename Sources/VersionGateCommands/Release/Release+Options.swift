import UpdatePolicy

extension Release: EditableRecord {
    static let options: [ColumnOption<Release>] = [
        ColumnOption(\.build, "The build, as the app reports it", value: "build", nameInEdit: "set-build"),
        ColumnOption(\.minOS, "The least version of the operating system", value: "version"),
        ColumnOption(
            \.regions, "A country where it is (JP); without one it is everywhere", value: "country",
            nameInEdit: "set-region"
        ),
        ColumnOption(\.liveAt, "When users can get it"),
        ColumnOption(\.staged, "It is in a staged rollout, so not everybody can get it yet"),
        ColumnOption(\.note, "A note for the people who edit; never sent"),
    ]

    /// The platforms whose systems have no number of 100 or more; others, as ChromeOS, do.
    private static let countedBelow100 = ["android", "ios", "macos", "tvos", "visionos", "watchos", "windows"]

    /// A least system that no client of a platform has.
    static func doubts(minOS: String?, on platforms: [String]) -> [String] {
        guard let minOS, let major = Int(minOS.prefix { $0.isNumber }), major >= 100 else { return [] }
        let names = Set(platforms.map { Platform($0).name }).intersection(countedBelow100).sorted()
        guard !names.isEmpty else { return [] }
        return ["no client on \(names.joined(separator: ", ")) is offered it, as no system there is at \(minOS)"]
    }

    /// Whether the first number of a version is so much greater that a dot may be missing.
    static func isFar(_ version: AppVersion, above known: AppVersion) -> Bool {
        func first(_ version: AppVersion) -> Int? { Int(version.text.drop { !$0.isNumber }.prefix { $0.isNumber }) }
        guard let wanted = first(version), let present = first(known) else { return false }
        return wanted >= 10 && wanted >= 5 * max(present, 1)
    }
}
