package import UpdatePolicy

package struct ParsedTemplate: Sendable {
    /// The most bytes that a document may have.
    package static let largestDocument = 1 << 20

    private let parts: [TemplatePart]
    private let escaping: TemplateEscaping

    /// Whether messages are among the values that it asks for.
    let showsMessages: Bool

    /// Reads a template.
    ///
    /// - Throws: ``FeedTemplateFault``: the first fault that it has.
    package init(_ template: FeedTemplate) throws(FeedTemplateFault) {
        var scanner = TemplateScanner(template.body)
        parts = try scanner.scan()
        escaping = TemplateEscaping(contentType: template.contentType)
        showsMessages = parts.contains { $0.names("messages") }
    }

    /// The document with these values; nil if it would have more than ``largestDocument`` bytes, where each tag counts as
    /// twenty bytes more than its value as often as it comes.
    package func render(_ values: FeedValues) -> String? {
        var renderer = TemplateRenderer(escaping, largest: Self.largestDocument)
        renderer.append(parts, [values.members])
        return renderer.isTooLarge ? nil : String(decoding: renderer.bytes, as: UTF8.self)
    }
}

/// A fault of a template: where it is, what it is, and what to write.
package struct FeedTemplateFault: Error, Sendable, Hashable {
    package let line: Int
    /// The column, counted from 1 in characters.
    package let column: Int
    package let message: String
    package let hint: String

    /// The fault as compilers report theirs: `FILE:LINE:COLUMN: message`, and the hint on a line of its own.
    package func description(file: String) -> String { "\(file):\(line):\(column): \(message)\nHint: \(hint)" }
}
