package import Postgres
package import UpdatePolicy

/// Words with times, commands and subjects as data, so that each renderer writes them as whoever reads needs them.
///
///     "Blown at \(time: at). To arm it again: \(command: "undo 5")"
package struct Sentence: Sendable, Equatable, ExpressibleByStringInterpolation {
    package enum Segment: Sendable, Equatable {
        case text(String)
        case time(Timestamp)
        /// A time with how far it is from now.
        case timeAndDistance(Timestamp)
        /// How far a time is from now: `25 s ago`.
        case distance(Timestamp)
        /// A command as a whole.
        case command(String)
        case link(String, Subject)
        case tag(String, Tone)
        /// What is said by the way.
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

    /// For programs: times in ISO 8601.
    package var plain: String { text(at: nil) { $0.description } }

    package var isEmpty: Bool { segments.isEmpty }

    /// The sentence as text.
    ///
    /// - Parameters:
    ///   - now: What distances are from; nil: times are written in their place.
    ///   - time: Writes a time.
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
        /// - Parameter command: What stands behind the name of the program.
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
    /// The changes of a rule or an app.
    case history(of: String)
    /// A check by a client of an app; nil: of any.
    case check(String?)
    case rules
    case apps
    case unknowns
}

/// How a word stands out.
package enum Tone: String, Sendable {
    /// As it should be, or added.
    case good
    /// Locks out, or was removed.
    case alert
    /// In part, or changed.
    case part
    /// Does nothing.
    case off
    case plain
}

extension Sentence: Decodable, PostgresDecodable {
    /// Reads a sentence of the database.
    package init(from cell: PostgresCell) throws(PostgresError) { self.init(timesInBraces: try String(from: cell)) }

    /// Reads a sentence of the database.
    package init(from decoder: any Decoder) throws {
        self.init(timesInBraces: try decoder.singleValueContainer().decode(String.self))
    }
}
