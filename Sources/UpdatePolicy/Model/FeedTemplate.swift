// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A document of an app's own: a Mustache template of what the policy says to every version.
public struct FeedTemplate: PolicyRecord {
    /// The last part of its address.
    public var name: String

    /// The media type of the document, which also decides how values are escaped; no parameters.
    public var contentType: String

    /// The template.
    public var body: String

    /// A template with these columns.
    public init(name: String, contentType: String, body: String) {
        self.name = name
        self.contentType = contentType
        self.body = body
    }

    /// The media types that a document may have.
    public static let contentTypes = [
        "application/json", "application/xml", "application/x-plist", "application/rss+xml", "text/xml", "text/plain",
    ]

    /// The most bytes of ``body``.
    public static let longestBody = 65_536
}

extension FeedTemplate {
    /// `feed_templates`
    public static let table = PolicyTable.feedTemplates

    /// A template without a name and a body.
    public static let blank = FeedTemplate(name: "", contentType: "", body: "")

    /// The columns that people edit.
    public static let columns: [PolicyColumn<FeedTemplate>] = [
        .text("name", \.name, .key, role: .identity),
        .text("content_type", \.contentType, role: .message, example: "application/json"),
        .text("body", \.body, role: .message),
    ]

    /// The app.
    public static let owner: ColumnDefinition? = App.bundleOfOwner
}
