import TestChecks
import UpdatePolicy

@testable import CheckListener

/// What was counted, as plain dictionaries: the naive form of the recorder, and of what it hands over.
struct Counted: Equatable {
    /// Checks, messages and lockouts by `HOUR BUNDLE PLATFORM VERSION BUILD REGION OS`, or `HOUR other`.
    var kinds: [String: [Int]] = [:]
    /// Messages and lockouts by `HOUR KEY`.
    var rules: [String: [Int]] = [:]
    /// Checks of kinds that are not kept apart, by `HOUR BUNDLE`.
    var merged: [String: Int] = [:]

    init() {}

    /// Takes over what a recorder counted.
    init(_ recorder: CheckRecorder, at time: Timestamp) {
        add(recorder, at: time)
    }

    mutating func add(_ recorder: CheckRecorder, at time: Timestamp) {
        for piece in recorder.drain(at: time) {
            let hour = piece.hour - HourlyCounts.hour(of: CountedPolicy.noon) + 12
            for (kind, counts) in piece.kinds.map({ (ClientKind(bytes: $0), $1) }) {
                let members = [kind.bundle, kind.platform, kind.version, kind.build, kind.region, kind.os]
                let name = members.map { $0 ?? "-" }.joined(separator: " ")
                add([counts.checks, counts.messages, counts.lockouts], to: "\(hour) \(name)", in: \.kinds)
            }
            let others = piece.others
            if others != .zero {
                add([others.checks, others.messages, others.lockouts], to: "\(hour) other", in: \.kinds)
            }
            for (bundle, checks) in piece.merged.map({ (String(decoding: $0, as: UTF8.self), $1) }) {
                merged["\(hour) \(bundle)", default: 0] += checks
            }
            for (key, counts) in piece.rules {
                add([counts.sent, counts.lockouts], to: "\(hour) \(key)", in: \.rules)
            }
        }
    }

    /// Counts a check in the plainest way.
    mutating func add(_ client: Client, _ messages: [Message], at time: Timestamp) {
        let hour = (time.microsecondsSince1970 - CountedPolicy.noon.microsecondsSince1970) / 3_600_000_000 + 12
        var name = "other"
        if client.bundle?.string.lowercased() == "doto" {
            let platform = client.platform.map(\.name).flatMap { $0 == "my phone" ? nil : $0 }
            let members = [
                "doto", platform, client.versionText?.string, client.build?.text, client.region?.code, client.os?.text,
            ]
            name = members.map { $0 ?? "-" }.joined(separator: " ")
        }
        let isLockedOut = messages.contains(where: \.lockout)
        add([1, messages.isEmpty ? 0 : 1, isLockedOut ? 1 : 0], to: "\(hour) \(name)", in: \.kinds)
        for message in messages { add([1, message.lockout ? 1 : 0], to: "\(hour) \(message.id)", in: \.rules) }
    }

    private mutating func add(_ numbers: [Int], to name: String, in table: WritableKeyPath<Counted, [String: [Int]]>) {
        let before = self[keyPath: table][name] ?? numbers.map { _ in 0 }
        self[keyPath: table][name] = zip(before, numbers).map { $0 + $1 }
    }
}
