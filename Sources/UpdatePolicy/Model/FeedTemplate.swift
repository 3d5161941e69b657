/// A document of an app's own: a Mustache template of what the policy says to every version.
package struct FeedTemplate: PolicyRecord {
    /// The last part of its address.
    package var name: String

    /// The media type of the document, which also decides how values are escaped; no parameters.
    package var contentType: String

    /// The template.
    package var body: String

    /// A template with these columns.
    package init(name: String, contentType: String, body: String) {
        self.name = name
        self.contentType = contentType
        self.body = body
    }

    /// The media types that a document may have.
    package static let contentTypes = [
        "application/json", "application/xml", "application/x-plist", "application/rss+xml", "text/xml", "text/plain",
    ]

    /// The most bytes of ``body``.
    package static let longestBody = 65_536
}

extension FeedTemplate {
    /// `feed_templates`
    package static let table = PolicyTable.feedTemplates

    /// A template without a name and a body.
    package static let blank = FeedTemplate(name: "", contentType: "", body: "")

    /// The columns that people edit.
    package static let columns: [PolicyColumn<FeedTemplate>] = [
        .init("name", \.name, .key, role: .identity, isRequired: true),
        .init("content_type", \.contentType, .text, role: .message, isRequired: true, example: "application/json"),
        .init("body", \.body, .text, role: .message, isRequired: true),
    ]

    /// The app.
    package static let owner: ColumnDefinition? = App.bundleOfOwner
}
