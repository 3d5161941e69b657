/// A document of an app's own: a Mustache template of what the policy says to every version.
package struct FeedTemplate: PolicyRecord {
    /// The last part of its address.
    package var name: String

    /// The media type of the document, which also decides how values are escaped; no parameters.
    package var contentType: String

    package var body: String

    package init(name: String, contentType: String, body: String) {
        (self.name, self.contentType, self.body) = (name, contentType, body)
    }

    package static let contentTypes = [
        "application/json", "application/xml", "application/x-plist", "application/rss+xml", "text/xml", "text/plain",
    ]

    package static let longestBody = 65_536

    package static let table = PolicyTable.feedTemplates
    package static let blank = FeedTemplate(name: "", contentType: "", body: "")

    package static let columns: [PolicyColumn<FeedTemplate>] = [
        .init("name", \.name, .key, role: .identity, isRequired: true),
        .init("content_type", \.contentType, .text, role: .message, isRequired: true, example: "application/json"),
        .init("body", \.body, .text, role: .message, isRequired: true),
    ]

    package static let owner: ColumnDefinition? = App.bundleOfOwner
}
