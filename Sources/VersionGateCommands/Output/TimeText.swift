import Foundation
import PolicyStore
import UpdatePolicy

/// A time is always spelled in the same way: in ISO 8601, to the second, with the offset of the local time zone. So it says
/// what it is wherever it is copied to, and every option that takes a time can read it.
enum TimeText {
    static func local(_ time: Timestamp) -> String {
        let seconds = time.microsecondsSince1970.flooredQuotient(by: 1_000_000)
        let offset = CommandContext.current.secondsAheadOfUTC(seconds)
        let digits = Timestamp(secondsSince1970: seconds + offset).description.dropLast()
        guard offset != 0 else { return "\(digits)Z" }
        let (hours, minutes) = (abs(offset) / 60).quotientAndRemainder(dividingBy: 60)
        return "\(digits)\(offset < 0 ? "-" : "+")\(twoDigits(hours)):\(twoDigits(minutes))"
    }

    /// A time, and how far it is from now: `2026-03-01T13:00:00+01:00 (in 2 h)`.
    static func local(_ time: Timestamp, from now: Timestamp) -> String {
        time.distance(from: now).map { "\(local(time)) (\($0))" } ?? local(time)
    }

    @Sendable
    static func offsetOfThisMachine(at seconds: Int64) -> Int64 {
        var time = time_t(seconds)
        var fields = tm()
        return localtime_r(&time, &fields) == nil ? 0 : Int64(fields.tm_gmtoff)
    }

    /// The time zone of this machine for PostgreSQL: that of `TZ`, or the rule that ends `/etc/localtime`, such as
    /// `CET-1CEST,M3.5.0,M10.5.0/3`.
    static func zone(_ environment: [String: String]) -> String {
        let named = environment["TZ"].map { String($0.drop { $0 == ":" }) }
        if let named, !named.hasPrefix("/") { return named.isEmpty ? "UTC" : named }
        let file = FileManager.default.contents(atPath: named ?? "/etc/localtime") ?? Data()
        let rule = String(decoding: file.split(separator: UInt8(ascii: "\n")).last ?? Data(), as: UTF8.self)
        return rule.wholeMatch(of: /[!-~]+/) == nil ? "UTC" : rule
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Sentence {
    var local: String { text(at: nil, time: TimeText.local) }
}
