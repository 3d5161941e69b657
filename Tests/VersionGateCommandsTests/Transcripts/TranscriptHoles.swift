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
        if text.utf8.allSatisfy({ $0 < 0x7F && $0 >= 0x20 || $0 == 0x0A }) { return text }
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
        if text.isEmpty { return text }
        var cut = Self.visible(texts.reduce(text) { $1.text.isEmpty ? $0 : $0.replacing($1.text, with: $1.name) })
        // A regular expression takes long to find nothing, so a part of what it finds is looked for before.
        if cut.contains("test_") {
            cut = cut.replacing(#/[^\s('"=]*/socket:\d+/test_\d+/#, with: "{database}")
                .replacing(#/\btest_\d+\b/#, with: "{database}")
        }
        if cut.utf8.contains(UInt8(ascii: "-")) {
            cut = cut.replacing(#/(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|[+-]\d\d(:?\d\d)?)?/#) {
                days.contains($0.1) ? String($0.0) : "{time}"
            }
            .replacing(#/\b\d{4}-\d\d-\d\d\b/#) { days.contains($0.output) ? String($0.output) : "{day}" }
            .replacing(#/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/#, with: "{uuid}")
        }
        if cut.contains(", in ") {
            cut = cut.replacing(#/, in \d+ (y|d|h|min|s)( \d+ (h|min|s))?/#, with: ", in {duration}")
        }
        if cut.contains(" ago") {
            cut = cut.replacing(#/\b\d+ (d|h|min|s)( \d+ (h|min|s))? ago\b/#, with: "{duration} ago")
        }
        if cut.contains(" after it went live") {
            cut = cut.replacing(#/\b\d+ d \d+ h after it went live/#, with: "{duration} after it went live")
        }
        if cut.contains("\"clock_offset\"") || cut.contains("\"ageSeconds\"") {
            cut = cut.replacing(#/"(clock_offset|ageSeconds)":[-\d.e]+/#) { "\"\($0.1)\":{n}" }
        }
        if cut.contains("vgr_") { cut = cut.replacing(#/\bvgr_[0-9A-Za-z]{43}\b/#, with: "{token}") }
        if cut.contains("process ") { cut = cut.replacing(#/\bprocess \d+\b/#, with: "process {n}") }
        return cut.replacing("(\(NSUserName()))", with: "({user})").replacing("|\(NSUserName())|", with: "|{user}|")
    }
}
