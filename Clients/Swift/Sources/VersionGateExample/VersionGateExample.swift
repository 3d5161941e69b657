import Foundation
import VersionGateClient

/// Asks a server as an app does at its start, and shows the messages in the terminal.
@main
struct VersionGateExample {
    private static let usage = """
        Usage: VersionGateExample SERVER BUNDLE VERSION [MEMBER=VALUE]...
               VersionGateExample SERVER BUNDLE forget

        Such as: VersionGateExample http://localhost:8080 com.example.doto 1.0 platform=ios channel=testflight
        MEMBER is build, platform, os, region, language, or an attribute.

        """

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 3, let server = URL(string: arguments[1]) else { return fail() }
        var app = AppDescription.current
        (app.bundle, app.version) = (arguments[2], arguments[3])
        var attributes: [String: AttributeValue] = [:]
        for argument in arguments.dropFirst(4) {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return fail() }
            switch parts[0] {
            case "build": app.build = parts[1]
            case "platform": app.platform = parts[1]
            case "os": app.os = parts[1]
            case "region": app.region = parts[1]
            case "language": app.language = parts[1]
            default: attributes[parts[0]] = .string(parts[1])
            }
        }
        let gate: VersionGate
        do {
            gate = try VersionGate(server: server, app: app, attributes: attributes)
        } catch {
            return fail("\(error)\n")
        }
        if arguments[3] == "forget" {
            gate.forget()
            print("All that was kept is deleted.")
        } else {
            await show(gate)
        }
        await gate.finishWriting()
    }

    /// Shows messages until there are none to answer for.
    private static func show(_ gate: VersionGate) async {
        var messages = await gate.check()
        if messages.isEmpty { print("There is nothing to show.") }
        while let message = messages.first {
            print(message.isLockout ? "\n*** \(message.title)" : "\n\(message.title)")
            print(message.text)
            if let link = message.link { print(link.absoluteString) }
            print(choices(for: message), terminator: " ")
            guard let choice = readLine() else { return print() }
            switch choice {
            case "o" where message.link != nil:
                print("An app opens \(message.opened()?.absoluteString ?? "")")
            case "t" where message.isLockout:
                messages = await gate.check(force: true)
                if messages.isEmpty { print("There is nothing to show.") }
                continue
            case "s" where message.canSkip:
                message.skip()
            case "d" where !message.isLockout:
                message.dismiss()
            default:
                continue
            }
            if !message.isLockout { messages.removeFirst() }
        }
    }

    private static func choices(for message: Message) -> String {
        var choices: [String] = []
        if message.link != nil { choices.append("[o]pen") }
        if message.canSkip { choices.append("[s]kip") }
        choices.append(message.isLockout ? "[t]ry again" : "[d]ismiss")
        return choices.joined(separator: ", ") + "?"
    }

    private static func fail(_ words: String = usage) {
        FileHandle.standardError.write(Data(words.utf8))
        exit(64)
    }
}
