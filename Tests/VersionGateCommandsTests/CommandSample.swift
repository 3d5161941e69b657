import Foundation

/// Arguments that a command can be called with, made from what it says of its arguments.
enum CommandSample {
    /// What stands for a value of this name.
    private static let values = [
        "key": "k", "bundle": "a", "version": "1.2", "percent": "5", "percent@time": "5%@now", "change": "1",
        "member=value": "bundle=a", "platform": "ios", "title": "T", "text": "X", "language": "de", "name": "anna",
        "role": "viewer", "type": "text/plain", "new": "k2",
    ]

    /// What commands need beside what they say they need.
    private static let additions: [[String]: [String]] = [
        ["app", "edit"]: ["--name", "A"],
        ["app", "pause"]: ["a"],
        ["app", "resume"]: ["a"],
        ["undo"]: ["1"],
        ["release", "edit"]: ["--min-os", "15"],
        ["release", "notes"]: ["New"],
        ["rule", "edit"]: ["--note", "n"],
        ["rule", "ramp"]: ["5%@now"],
        ["rule", "translate"]: ["--title", "T", "--text", "X"],
    ]

    /// The words of a call.
    ///
    /// - Throws: an error when a value has a name that no sample is known of: add one above.
    static func arguments(for leaf: CommandTree.Leaf) throws -> [String] {
        var words = leaf.path
        for argument in leaf.command.arguments ?? [] where !argument.isOptional && argument.kind != "flag" {
            let name = argument.valueName ?? ""
            if let option = argument.preferredName?.name { words.append("--\(option)") }
            words.append(try sample(of: name, leaf))
        }
        return words + (additions[leaf.path] ?? []) + (leaf.options.contains("yes") ? ["--yes"] : [])
    }

    private static func sample(of name: String, _ leaf: CommandTree.Leaf) throws -> String {
        if name == "file" {
            let path = FileManager.default.temporaryDirectory.appending(path: "versiongate-sample.yaml").path
            try "versiongate: 1\napps: {}\nrules: {}\n...\n".write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        guard let value = values[name] else { throw UnknownValue(command: leaf.testDescription, name: name) }
        return value
    }

    /// A command has an argument that there is no sample of.
    struct UnknownValue: Error {
        let command: String
        let name: String
    }
}
