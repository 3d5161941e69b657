import Foundation
import Hummingbird
import PolicyStore
import UpdatePolicy

/// What a page is asked by: the parts of its path that have a name, and the members of its query.
struct PageQuestion {
    private var parameters = Parameters()
    private(set) var members: [String: String] = [:]

    init() {}

    init(_ query: String, _ parameters: Parameters) throws(PageProblem) {
        self.parameters = parameters
        for member in query.split(separator: "&") {
            let pair = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count > 1 else { continue }
            guard let name = pair[0].percentDecoded, let value = pair[1].replacing("+", with: " ").percentDecoded else {
                throw Self.unreadable("Failed to percent decode '\(pair[1])' of \(pair[0]); it must be UTF-8.")
            }
            guard members.updateValue(value, forKey: name) == nil else {
                throw Self.unreadable("Found duplicate keys with name '\(name)'")
            }
        }
    }

    private static func unreadable(_ reason: Sentence) -> PageProblem {
        PageProblem(400, "This address cannot be read", reason)
    }

    /// A part of the path; one that cannot be decoded is nobody's.
    func part(_ name: String) -> String { parameters.get(name)?.percentDecoded ?? "\u{FFFD}" }

    /// A member of the query that says something.
    func value(_ name: String) -> String? { members[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// A number of the query that is at least some other; nil: it has none.
    func number(_ name: String, from least: Int64, _ title: String, _ what: String) throws(PageProblem) -> Int64? {
        guard let text = value(name) else { return nil }
        guard let number = Int64(text), number >= least else {
            throw PageProblem(400, title, "\(name) is \"\(text)\"; it must be \(what).")
        }
        return number
    }

    /// A time of the query; nil: it has none.
    func time(_ name: String) throws(PageProblem) -> Timestamp? {
        guard let text = value(name) else { return nil }
        guard let time = Timestamp(onPage: text.trimmed) else {
            throw PageProblem(
                400, "This time cannot be read", "\(name) is \"\(text)\"; write it as 2026-11-22 14:05, in UTC."
            )
        }
        return time
    }

    static let periods = [1, 7, 30, 90, 365]

    /// The days that charts cover.
    func days() throws(PageProblem) -> Int {
        let text = members["days"]
        guard let days = text.map({ Int($0) }) ?? 30, Self.periods.contains(days) else {
            let choices = Self.periods.map(String.init).joined(separator: ", ")
            throw PageProblem(
                400, "This length of time is not shown", "days is \"\(text ?? "")\"; it may be \(choices)."
            )
        }
        return days
    }
}

/// Why there is no page.
struct PageProblem: Error {
    let status: Int
    let title: String
    let text: Sentence

    init(_ status: Int, _ title: String, _ text: Sentence) {
        (self.status, self.title, self.text) = (status, title, text)
    }
}

extension Timestamp {
    /// A time as pages write it, in UTC where no offset says otherwise: `2026-11-22 14:05 UTC`, `2026-11-22`.
    init?(onPage text: String) {
        let spellings = [text, text.replacing(" UTC", with: "Z"), text + "Z", text + "T00:00Z"]
        guard let time = spellings.lazy.compactMap({ Timestamp($0) }).first else { return nil }
        self = time
    }
}

extension StringProtocol {
    var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// A part of an address as it was before it was encoded; nil: it is no UTF-8.
    fileprivate var percentDecoded: String? {
        // Foundation drops a byte order mark with which a text begins.
        ("x" + self).removingPercentEncoding.map { String($0.unicodeScalars.dropFirst()) }
    }
}
