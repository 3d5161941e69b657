package import Foundation

/// An element of a file of scenarios.
package struct Scenario: Sendable {
    package let name: String
    package let app: [String: JSON]
    /// What each step says, in the order in which it happens.
    package let steps: [[Step]]

    private static let defaultApp: [String: JSON] = [
        "bundle": .string("com.example.doto"), "version": .string("1.0"), "build": .string("42"),
        "platform": .string("ios"),
    ]

    /// What a step says. Its members are read strictly: what the description of scenarios does not have is a fault.
    package enum Step: Sendable {
        case start([String: JSON])
        case preview(String, isRefused: Bool)
        case set([String: JSON])
        case advance(Int)
        case answer(ServerAnswer)
        case check(Check)
        case dismiss(String)
        case skip(String)
        case open(String, opens: String?)
        case fields(JSON)
        case forget
        case storage(StorageChange)
        case stored(JSON)
        case same
        case other
    }

    /// A check and what it must do.
    package struct Check: Sendable {
        package var force = false
        /// Which of the checks at the same time are manual.
        package var manual = [false]
        package var asks: Bool
        package var shows: JSON
        package var sends: JSON?
        package var links: JSON?
        package var left: JSON?
        package var gives: JSON?
        package var reports: JSON?
    }

    /// What happens to storage.
    package enum StorageChange: Sendable {
        case unreadable, stuck, full, writable
        /// The kept text is this one; nil: nothing is kept.
        case text(String?)
    }

    /// A scenario or a step that is not as it is described.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    /// The scenarios of a file.
    package static func all(in file: URL) throws -> [Scenario] {
        guard let elements = try JSON(text: Data(contentsOf: file)).elements else {
            throw Fault(description: "\(file.lastPathComponent) is no array")
        }
        return try elements.map(Scenario.init)
    }

    private init(_ json: JSON) throws {
        guard let members = json.members, let name = members["name"]?.string, members["rule"]?.string != nil,
            let app = (members["app"] ?? .object([:])).members, let steps = members["steps"]?.elements,
            Set(members.keys).isSubset(of: ["name", "rule", "app", "steps"])
        else { throw Fault(description: "no scenario: \(json.text.prefix(200))") }
        self.name = name
        self.app = Self.defaultApp.changed(by: app)
        self.steps = try steps.enumerated().map { index, step in
            guard let step = try Step.all(in: step) else {
                throw Fault(description: "\(name), step \(index + 1): not described: \(step.text.prefix(200))")
            }
            return step
        }
    }
}

extension [String: JSON] {
    /// The app of which members are others; null removes one.
    package func changed(by members: [String: JSON]) -> [String: JSON] {
        merging(members) { $1 }.filter { $0.value != .null }
    }
}

extension Scenario.Step {
    /// What a step says. It may have several of these members: advance, answer, start, check or fields.
    fileprivate static func all(in json: JSON) throws -> [Self]? {
        guard var members = json.members else { return nil }
        var steps: [Self] = []
        for name in ["advance", "answer", "start"] where members.count > 1 {
            guard let value = members.removeValue(forKey: name) else { continue }
            guard let step = try Self(.object([name: value])) else { return nil }
            steps.append(step)
        }
        let isRight = steps.isEmpty || !Set(members.keys).isDisjoint(with: ["answer", "start", "check", "fields"])
        guard isRight, let last = try Self(.object(members)) else { return nil }
        return steps + [last]
    }

    private init?(_ json: JSON) throws {
        guard let members = json.members else { return nil }
        switch members.keys.sorted() {
        case ["start"]:
            guard let members = members["start"]?.members else { return nil }
            self = .start(members)
        case ["preview"], ["preview", "refused"]:
            guard let answer = members["preview"], members["refused"].map({ $0 == .boolean(true) }) != false else {
                return nil
            }
            self = .preview(answer.string ?? answer.text, isRefused: members["refused"] != nil)
        case ["set"]:
            guard let members = members["set"]?.members,
                Set(members.keys).isSubset(of: ["language", "region", "attributes"])
            else { return nil }
            self = .set(members)
        case ["advance"]:
            guard let seconds = members["advance"]?.whole else { return nil }
            self = .advance(seconds)
        case ["answer"]:
            guard let answer = members["answer"].flatMap(ServerAnswer.init) else { return nil }
            self = .answer(answer)
        case ["dismiss"]:
            guard let id = members["dismiss"]?.string else { return nil }
            self = .dismiss(id)
        case ["skip"]:
            guard let id = members["skip"]?.string else { return nil }
            self = .skip(id)
        case ["open", "opens"]:
            guard let id = members["open"]?.string, let opens = members["opens"] else { return nil }
            guard opens == .null || opens.string != nil else { return nil }
            self = .open(id, opens: opens.string)
        case ["fields"]:
            guard let fields = members["fields"], fields.members != nil else { return nil }
            self = .fields(fields)
        case ["forget"]:
            guard members["forget"] == .boolean(true) else { return nil }
            self = .forget
        case ["storage"]:
            guard let change = members["storage"].flatMap(Scenario.StorageChange.init) else { return nil }
            self = .storage(change)
        case ["stored"]:
            guard let stored = members["stored"], stored == .null || stored.members != nil else { return nil }
            self = .stored(stored)
        case ["same"]:
            guard members["same"] == .string("install") else { return nil }
            self = .same
        case ["other"]:
            guard members["other"] == .string("install") else { return nil }
            self = .other
        default:
            guard let check = Scenario.Check(members) else { return nil }
            self = .check(check)
        }
    }
}

extension Scenario.Check {
    fileprivate init?(_ members: [String: JSON]) {
        guard let options = members["check"]?.members, let asks = members["asks"]?.boolean,
            let shows = members["shows"], shows.elements != nil,
            Set(members.keys).isSubset(of: ["check", "asks", "shows", "sends", "links", "left", "gives", "reports"]),
            Set(options.keys).isSubset(of: ["force", "manual", "together"])
        else { return nil }
        self.asks = asks
        self.shows = shows
        (sends, links, left) = (members["sends"], members["links"], members["left"])
        (gives, reports) = (members["gives"], members["reports"])
        if let option = options["force"] {
            guard let force = option.boolean else { return nil }
            self.force = force
        }
        let (manual, together) = (options["manual"], options["together"]?.whole ?? 1)
        let known: [JSON?] = [nil, .boolean(true), .string("first"), .string("second")]
        guard together > 0, known.contains(manual) else { return nil }
        self.manual = (0..<together).map { index in
            manual == .boolean(true) || manual == .string(index == 0 ? "first" : "second")
        }
    }
}

extension Scenario.StorageChange {
    fileprivate init?(_ json: JSON) {
        if let members = json.members {
            guard members.count == 1 else { return nil }
            if let text = members["text"]?.string {
                self = .text(text)
            } else if let object = members["json"], object.members != nil {
                self = .text(object.text)
            } else {
                return nil
            }
            return
        }
        switch json.string {
        case "empty": self = .text(nil)
        case "unreadable": self = .unreadable
        case "stuck": self = .stuck
        case "full": self = .full
        case "writable": self = .writable
        default: return nil
        }
    }
}

/// What the server does with a question.
package struct ServerAnswer: Sendable {
    package enum Kind: Sendable, Equatable {
        case response(status: Int, body: Data, date: String?, headers: [String: String] = [:])
        case unreachable, stall, redirect
        /// Whatever else goes wrong on the way.
        case broken
    }

    package let kind: Kind
    /// As the scenario says it.
    package let json: JSON

    package static let unreachable = ServerAnswer(kind: .unreachable, json: .object(["fails": .string("unreachable")]))

    private init(kind: Kind, json: JSON) {
        self.kind = kind
        self.json = json
    }

    package init?(_ json: JSON) {
        self.json = json
        guard let members = json.members else { return nil }
        if members["messages"]?.elements != nil {
            guard Set(members.keys).isSubset(of: ["messages", "date"]) else { return nil }
            let body = JSON.object(["messages": members["messages"] ?? .null]).text
            kind = .response(status: 200, body: Data(body.utf8), date: members["date"]?.string)
        } else if let fails = members["fails"]?.string {
            guard members.count == 1 else { return nil }
            switch fails {
            case "unreachable": kind = .unreachable
            case "stall": kind = .stall
            case "redirect": kind = .redirect
            default: kind = .broken
            }
        } else {
            guard let status = members["status"]?.whole, let body = members["body"]?.string,
                Set(members.keys).isSubset(of: ["status", "body", "repeat", "bytes", "encoding", "date", "headers"])
            else { return nil }
            let isLatin1 = members["encoding"] == .string("latin1")
            let text = String(repeating: body, count: members["repeat"]?.whole ?? 1)
            guard isLatin1 || members["encoding"] == nil,
                var bytes = text.data(using: isLatin1 ? .isoLatin1 : .utf8)
            else { return nil }
            if let option = members["bytes"] {
                guard let count = option.whole, count >= bytes.count else { return nil }
                bytes.append(contentsOf: repeatElement(0x20, count: count - bytes.count))
            }
            let headers = (members["headers"]?.members ?? [:]).mapValues { value in
                value.string ?? value.elements?.compactMap(\.string).joined(separator: ", ") ?? ""
            }
            kind = .response(status: status, body: bytes, date: members["date"]?.string, headers: headers)
        }
    }
}
