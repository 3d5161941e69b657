package import Postgres
package import UpdatePolicy

/// Words with times, commands and subjects as data, so that each renderer writes them as whoever reads needs them.
///
///     "Blown at \(time: at). To arm it again: \(command: "undo 5")"
package struct Sentence: Sendable, Equatable, ExpressibleByStringInterpolation {
    package enum Segment: Sendable, Equatable {
        case text(String)
        case time(Timestamp)
        case timeAndDistance(Timestamp)
        case distance(Timestamp)
        case command(String)
        case link(String, Subject)
        case tag(String, Tone)
        case aside(String)
    }

    package var segments: [Segment]

    package init(_ segments: [Segment]) { self.segments = segments }
    package init(_ text: String) { segments = text.isEmpty ? [] : [.text(text)] }
    package init(stringLiteral text: String) { self.init(text) }
    package init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// A sentence of the database: `it starts at {2026-11-22T14:05:00Z}`.
    init(timesInBraces text: String) {
        segments = text.split(separator: "{", omittingEmptySubsequences: false).flatMap { part -> [Segment] in
            guard let end = part.firstIndex(of: "}"), let time = Timestamp(String(part[..<end])) else {
                return [.text(String(part))]
            }
            return [.time(time), .text(String(part[end...].dropFirst()))]
        }.filter { $0 != .text("") }
    }

    package var plain: String { text(at: nil) { $0.description } }
    package var isEmpty: Bool { segments.isEmpty }

    /// - Parameter now: What distances are from; nil: times are written in their place.
    package func text(at now: Timestamp?, time: (Timestamp) -> String) -> String {
        segments.map { segment in
            switch segment {
            case .text(let text), .command(let text), .link(let text, _), .tag(let text, _), .aside(let text): text
            case .time(let moment): time(moment)
            case .timeAndDistance(let moment):
                now.flatMap { moment.distance(from: $0) }.map { "\(time(moment)) (\($0))" } ?? time(moment)
            case .distance(let moment): now.flatMap { moment.distance(from: $0) } ?? time(moment)
            }
        }.joined()
    }

    package static func + (left: Sentence, right: Sentence) -> Sentence { Sentence(left.segments + right.segments) }

    package struct StringInterpolation: StringInterpolationProtocol {
        var segments: [Segment] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) {
            if !literal.isEmpty { segments.append(.text(literal)) }
        }
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendLiteral("\(value)")
        }
        package mutating func appendInterpolation(_ sentence: Sentence) { segments += sentence.segments }
        package mutating func appendInterpolation(time: Timestamp) { segments.append(.time(time)) }
        package mutating func appendInterpolation(timeAndDistance time: Timestamp) {
            segments.append(.timeAndDistance(time))
        }
        package mutating func appendInterpolation(distance time: Timestamp) { segments.append(.distance(time)) }
        package mutating func appendInterpolation(command: String) {
            segments.append(.command(PrintedCommand.text(command)))
        }
        package mutating func appendInterpolation(_ text: String, _ subject: Subject) {
            segments.append(.link(text, subject))
        }
        package mutating func appendInterpolation(_ text: String, _ tone: Tone) { segments.append(.tag(text, tone)) }
        package mutating func appendInterpolation(aside text: String?) {
            if let text, !text.isEmpty { segments.append(.aside(text)) }
        }
    }
}

extension DefaultStringInterpolation {
    @available(*, unavailable, message: "how times are written is for the renderer: use text(at:time:) or plain")
    package mutating func appendInterpolation(_ sentence: Sentence) {}
}

extension Sequence<Sentence> {
    package func joined(separator: String) -> Sentence {
        Sentence(Array(map(\.segments).joined(separator: [.text(separator)])))
    }
}

/// What a part of a report is about. Pages lead there.
package enum Subject: Sendable, Hashable {
    case app(String)
    case rule(String)
    case change(Int64)
    case history(of: String)
    /// A check by a client of an app; nil: of any.
    case check(String?)
    case rules
    case apps
    case unknowns
}

package enum Tone: String, Sendable {
    case good
    case alert
    case part
    case off
    case plain
}

extension Sentence: Decodable, PostgresDecodable {
    package init(from cell: PostgresCell) throws(PostgresError) { self.init(timesInBraces: try String(from: cell)) }

    package init(from decoder: any Decoder) throws {
        self.init(timesInBraces: try decoder.singleValueContainer().decode(String.self))
    }
}
