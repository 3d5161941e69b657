import Foundation

/// What is valid as an answer of the server. A message that cannot be read is left out.
struct Answer: Sendable {
    var messages: [MessageContent]
    /// When the server sent it by its own clock, in seconds since 1970; nil if it does not say.
    var sentAt: Int?
    /// The first element that is no message, from 1; nil if all are.
    var firstUnreadable: Int?
    /// When its signature expires, in seconds since 1970; nil if it has none, or none was asked for.
    var expires: Int?

    /// Reads a response; throws if it is no valid answer.
    init(_ response: GateResponse) throws(CheckFault) {
        guard response.status == 200 else { throw CheckFault("the server answers with status \(response.status)") }
        guard response.body.count <= GateResponse.maximumSize else { throw .tooLong }
        let mark = response.body.starts(with: JSONValue.byteOrderMark) ? JSONValue.byteOrderMark.count : 0
        guard let value = JSONValue(response.body.dropFirst(mark)) else { throw CheckFault("the answer is no JSON") }
        guard let elements = try? value.object?.required("messages", \.elements) else {
            throw CheckFault("the answer has no list of messages")
        }
        let read = elements.prefix(Self.messageLimit).map { $0.object.flatMap { try? MessageContent($0) } }
        messages = read.compactMap { $0 }
        firstUnreadable = read.firstIndex { $0 == nil }.map { $0 + 1 }
        sentAt = response.date.flatMap(Self.seconds)
    }

    /// The answer to an app that has public keys: without a valid signature its lockouts are plain messages.
    func judged(_ response: GateResponse, bundle: String, keys: [String], at now: Int) -> Answer {
        guard !keys.isEmpty, messages.contains(where: \.isLockout) else { return self }
        var answer = self
        answer.expires = LockoutSignature.expiry(of: response, bundle: bundle, keys: keys, at: now)
        guard answer.expires == nil else { return answer }
        for index in answer.messages.indices { answer.messages[index].isLockout = false }
        return answer
    }

    private static let messageLimit = 100

    /// The seconds since 1970 of a header `Date`, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func seconds(of date: String) -> Int? {
        let text = Array(date.utf8)
        guard text.count == 29, text[3..<5].elementsEqual(", ".utf8), text[25...].elementsEqual(" GMT".utf8),
            text[7] == 0x20, text[11] == 0x20, text[16] == 0x20, text[19] == 0x3A, text[22] == 0x3A,
            let month = months.firstIndex(of: String(decoding: text[8..<11], as: UTF8.self)),
            let day = number(text[5..<7]), let year = number(text[12..<16]), let hour = number(text[17..<19]),
            let minute = number(text[20..<22]), let second = number(text[23..<25])
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        let time = calendar.date(from: DateComponents(year: year, month: month + 1, day: day))
        return time.map { Int($0.timeIntervalSince1970) + hour * 3_600 + minute * 60 + second }
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
