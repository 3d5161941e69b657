import Foundation
import TestPolicies
import TestSystem
import Testing

/// Holds the tables of the reference of rules to the tables that they are made from.
@Suite("Rules page")
struct RulesPageTests {
    private static let page = "Documentation/Rules.md"

    /// The tables of the page that are made from rows of meanings: the first line, and the cells of each row.
    private static let made: [(table: String, heading: String, cells: @Sendable (MeaningTable.Row) -> [String])] = [
        (
            "order", "| first | | second | because |",
            { row in row["versions"].split(separator: " ").map { "`\($0)`" } + [row["because"]] }
        ),
        (
            "range", "| range | in words | matches | does not match |",
            { row in
                let lists = ["matches", "does not match"].map { column in
                    row.texts(column).map { "`\($0)`" }.joined(separator: ", ")
                }
                return ["`\(row["range"])`", row["in words"]] + lists
            }
        ),
    ]

    @Test("The page shows the rows of meanings that are marked for it; VERSIONGATE_UPDATE=1 writes them")
    func showsMeanings() throws {
        let url = RepositoryFile.url(Self.page)
        let writes = ProcessInfo.processInfo.environment["VERSIONGATE_UPDATE"]?.isEmpty == false
        var lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        for (table, heading, cells) in Self.made {
            let start = try #require(lines.firstIndex(of: heading), "\(heading)") + 2
            let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.endIndex
            let rows = try MeaningTable.rows(table).filter(\.isOnPage).map { row in
                "| \(cells(row).map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |"
            }
            try #require(rows.count >= 5, "\(table)")
            if !writes { #expect(Array(lines[start..<end]) == rows) }
            lines.replaceSubrange(start..<end, with: rows)
        }
        if writes { try lines.joined(separator: "\n").write(to: url, atomically: true, encoding: .utf8) }
    }
}
