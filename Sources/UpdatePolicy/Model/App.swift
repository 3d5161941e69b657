package struct App: PolicyRecord {
    /// The bundle or package identifier; ASCII case does not count.
    package var bundle: String

    /// The name of the app, which replaces `{app}` in texts. `nil`: the bundle does.
    package var name: String?

    package var paused = false

    /// For the people who edit; never sent. `nil` also where notes were not read.
    package var note: String?

    /// The number of the app in the App Store, by which look-ups ask. `nil`: not known.
    package var storeID: Int64?

    /// The name of the seller, as the store has it. `nil`: not known.
    package var seller: String?

    /// The links to the app in the stores, at most one for each platform.
    package var storeLinks: [StoreLink] = []

    package var feedTemplates: [FeedTemplate] = []

    package init(bundle: String, name: String? = nil, _ change: (inout App) -> Void = { _ in }) {
        (self.bundle, self.name) = (bundle, name)
        change(&self)
    }

    /// Whether the app has a bundle; ASCII case does not count.
    package func isNamed(_ bundle: String) -> Bool {
        UTF8Text(self.bundle).lowercasedASCII == UTF8Text(bundle).lowercasedASCII
    }

    package static let table = PolicyTable.apps
    package static let blank = App(bundle: "")

    package static let columns: [PolicyColumn<App>] = [
        .init("bundle", \.bundle, .bundle, role: .identity, isRequired: true),
        .init("name", \.name, .text, role: .message),
        .init("paused", \.paused, .boolean, role: .condition),
        .init("store_id", \.storeID, .bigInteger, role: .message, storedName: "storeID"),
        .init("seller", \.seller, .text, role: .message),
        .init("note", \.note, .text, role: .note),
    ]

    /// The column of other tables that names the app.
    static let bundleOfOwner: ColumnDefinition? = columns.first { $0.role == .identity }?.definition

    /// The number in the App Store: the one that is recorded, else that behind `id` in the link to the store.
    package var numberInStore: Int64? {
        if let storeID { return storeID }
        guard let link = storeLinks.first(where: { Platform($0.platform).name == "ios" })?.link else { return nil }
        let parts = link.split { "/?&#".contains($0) }
        return parts.lazy.compactMap { part in
            part.hasPrefix("id") && part.count > 2 && part.dropFirst(2).allSatisfy { ("0"..."9").contains($0) }
                ? Int64(part.dropFirst(2)) : nil
        }.first
    }

    /// Whether a number in the App Store that two apps have is that of this one.
    func hasNumberInStore(before other: App) -> Bool {
        (storeID != nil) != (other.storeID != nil)
            ? storeID != nil : UTF8Text(bundle).lowercasedASCII < UTF8Text(other.bundle).lowercasedASCII
    }
}

/// The link that stands for `store` in the messages of an app on one platform.
package struct StoreLink: PolicyRecord {
    /// The platform; ASCII case does not count.
    package var platform: String

    package var link: String

    package init(platform: String, link: String) {
        (self.platform, self.link) = (platform, link)
    }

    package static let table = PolicyTable.storeLinks
    package static let blank = StoreLink(platform: "", link: "")

    package static let columns: [PolicyColumn<StoreLink>] = [
        .init("platform", \.platform, .platform, role: .identity, isRequired: true),
        .init("link", \.link, .text, role: .message, isRequired: true, example: "https://example.com"),
    ]

    package static let owner: ColumnDefinition? = App.bundleOfOwner
}
