import Foundation
import TestDatabase

/// What differs from run to run, and the names that stand for it in a transcript.
struct TranscriptHoles: Sendable {
    /// Texts of this run, and their names.
    var texts: [(text: String, name: String)] = []
    /// The days that the steps themselves name: a time of such a day is none of this run.
    private let days: Set<Substring>

    /// - Parameter inputs: Everything that steps and fixtures say.
    init(inputs: String) {
        days = Set(inputs.matches(of: /\d{4}-\d\d-\d\d/).map(\.output))
    }

    /// A text with what the names stand for.
    func filled(_ text: String) -> String {
        texts.reduce(text) { $0.replacing($1.name, with: $1.text) }
            .replacing("{time}", with: "2030-01-01T12:00:00Z")
            .replacing(#/\{U\+([0-9A-F]{4,6})\}/#) { match in
                UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
            }
    }

    /// A text with the numbers of characters that nobody sees: `{U+200B}`.
    private static func visible(_ text: String) -> String {
        let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .spaceSeparator, .lineSeparator]
        var visible = ""
        for scalar in text.unicodeScalars {
            if scalar != "\n", scalar != " ", hidden.contains(scalar.properties.generalCategory) {
                let number = String(scalar.value, radix: 16, uppercase: true)
                visible += "{U+\(String(repeating: "0", count: max(0, 4 - number.count)))\(number)}"
            } else {
                visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    /// A text with names in place of what differs.
    func cut(_ text: String) -> String {
        let named = texts.reduce(text) { $1.text.isEmpty ? $0 : $0.replacing($1.text, with: $1.name) }
        return
            Self.visible(named)
            .replacing(#/[^\s('"=]*/socket:\d+/test_\d+/#, with: "{database}")
            .replacing(#/\btest_\d+\b/#, with: "{database}")
            .replacing(#/(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|[+-]\d\d(:?\d\d)?)?/#) { match in
                days.contains(match.1) ? String(match.0) : "{time}"
            }
            .replacing(#/\b\d{4}-\d\d-\d\d\b/#) { days.contains($0.output) ? String($0.output) : "{day}" }
            .replacing(#/, in \d+ (y|d|h|min|s)( \d+ (h|min|s))?/#, with: ", in {duration}")
            .replacing(#/\b\d+ (d|h|min|s)( \d+ (h|min|s))? ago\b/#, with: "{duration} ago")
            .replacing(#/"clock_offset":[-\d.e]+/#, with: "\"clock_offset\":{n}")
            .replacing(#/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/#, with: "{uuid}")
            .replacing(#/\bprocess \d+\b/#, with: "process {n}")
            .replacing("(\(NSUserName()))", with: "({user})")
            .replacing("|\(NSUserName())|", with: "|{user}|")
    }
}
