/// What the pages have, each by its path.
package enum PageRoute: Sendable, Hashable {
    case overview
    case app(String)
    case rule(String)
    case attempt
    case history
    case unknowns
    /// The numbers of a chart as CSV.
    case chart(String, of: Owner)
    /// A file that pages load.
    case asset(String)
    /// Nothing that there is.
    case nothing

    /// What a chart is about.
    package enum Owner: Sendable, Hashable {
        case allApps
        case app(String)
        case rule(String)
    }

    /// The first part of a path.
    private enum Folder: String {
        case overview, apps, rules, `try`, history, unknowns, assets
    }

    private static let csv = ".csv"

    /// The pages that each page leads to, with their titles.
    static let entries: [(route: PageRoute, title: String)] = [
        (.overview, "Overview"), (.attempt, "Try a check"), (.history, "History"), (.unknowns, "Unknowns"),
    ]

    /// What is at a path; nil where its first part is that of no page.
    ///
    /// - Parameter path: As it was sent.
    package init?(path: String) {
        // A part that cannot be decoded is nobody's.
        let parts = path.split(separator: "/").map { $0.percentDecoded ?? "\u{FFFD}" }
        guard let first = parts.first else {
            self = .overview
            return
        }
        guard let folder = Folder(rawValue: first) else { return nil }
        let chart = parts.last.flatMap { $0.hasSuffix(Self.csv) ? String($0.dropLast(Self.csv.count)) : nil }
        switch (folder, parts.count, chart) {
        case (.apps, 2, _): self = .app(parts[1])
        case (.rules, 2, _): self = .rule(parts[1])
        case (.try, 1, _): self = .attempt
        case (.history, 1, _): self = .history
        case (.unknowns, 1, _): self = .unknowns
        case (.assets, 2, _): self = .asset(parts[1])
        case (.overview, 2, let chart?): self = .chart(chart, of: .allApps)
        case (.apps, 3, let chart?): self = .chart(chart, of: .app(parts[1]))
        case (.rules, 3, let chart?): self = .chart(chart, of: .rule(parts[1]))
        default: self = .nothing
        }
    }

    /// The path, as links have it.
    var path: String {
        func path(_ folder: Folder, _ rest: String...) -> String {
            "/" + ([folder.rawValue] + rest.map(\.percentEncoded)).joined(separator: "/")
        }
        return switch self {
        case .overview, .nothing: "/"
        case .app(let bundle): path(.apps, bundle)
        case .rule(let key): path(.rules, key)
        case .attempt: path(.try)
        case .history: path(.history)
        case .unknowns: path(.unknowns)
        case .asset(let name): path(.assets, name)
        case .chart(let name, .allApps): path(.overview, name + Self.csv)
        case .chart(let name, .app(let bundle)): path(.apps, bundle, name + Self.csv)
        case .chart(let name, .rule(let key)): path(.rules, key, name + Self.csv)
        }
    }
}

extension StringProtocol {
    /// The text as a part of a path or a value of a query: all but unreserved characters with percent signs.
    var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without its percent signs; nil where two digits are missing behind one, or it is no UTF-8.
    var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        func digit() -> UInt8? {
            rest.popFirst().flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
        }
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = digit(), let low = digit() else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
