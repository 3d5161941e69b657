import UpdatePolicy

/// The property list of release notes that iVersion reads: a dictionary of versions, each with an array of notes.
///
/// Notes are always arrays: up to 1.6.4 a string crashes iVersion. A document without a dictionary crashes it from 1.5 on, so
/// there always is one. It cannot lock out, and names no link.
enum IVersionFeed {
    /// The most versions before the one that is announced, and the most bytes that their notes have together.
    private static let (maximumOlderVersions, maximumOlderNotes) = (50, 1 << 16)

    static let carried = CarriedFormat(
        naming: .numbers(upTo: 5), lostLockout: "The lockout is left out: this format has none."
    )

    static func text(_ source: FeedSource) -> String {
        let platform = source.question.platform ?? "ios"
        var entries: [XMLElement] = []
        if let prompt = source.announcement(on: platform, naming: carried.naming)?.prompt, let app = source.app {
            let version = prompt.version.text
            // Only versions of as many numbers: to iVersion 1.2.0 is newer than 1.2, and 1.2-beta too.
            let noted = app.notedVersions(below: prompt.version, on: platform, for: source.question, at: source.time)
            let older = noted.filter {
                $0.version.text.allSatisfy { "0123456789.".contains($0) }
                    && count(of: $0.version.text) == count(of: version)
            }
            var size = 0
            let newest = older.suffix(maximumOlderVersions).reversed().prefix { other in
                size += other.notes.utf8.count
                return size <= maximumOlderNotes
            }
            for other in newest.reversed() { entries += entry(other.version.text, other.notes) }
            entries += entry(version, source.notes(of: prompt, on: platform))
        }
        return XMLElement("plist", [("version", "1.0")], [XMLElement("dict", [], entries)]).document(
            type: #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "#
                + #""http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#
        )
    }

    private static func entry(_ version: String, _ notes: String) -> [XMLElement] {
        [XMLElement("key", text: version), XMLElement("array", [], [XMLElement("string", text: notes)])]
    }

    private static func count(of version: String) -> Int { version.split(separator: ".").count }
}
