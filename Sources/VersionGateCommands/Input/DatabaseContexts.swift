import Foundation
import Postgres
import Yams

/// The databases that have a name: the contexts of the configuration file.
struct DatabaseContexts {
    /// A name and the address that it stands for.
    struct Context {
        let name: String
        let address: String
    }

    /// The path of the file, whether it is there or not.
    let path: String
    /// The contexts, in the order of the file.
    let all: [Context]

    /// Reads the file; without one there are no contexts.
    ///
    /// - Throws: `CommandError` that names the file and the line.
    static func read(_ environment: [String: String]) throws -> DatabaseContexts {
        let path = try path(environment)
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return DatabaseContexts(path: path, all: [])
        } catch {
            throw CommandError("\(path) cannot be read: \(CommandError.reason(ofFileError: error))")
        }
        return try DatabaseContexts(text, path: path)
    }

    /// `$XDG_CONFIG_HOME/versiongate/config.yaml`, or below `~/.config`.
    private static func path(_ environment: [String: String]) throws -> String {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return folder + "/versiongate/config.yaml"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandError(
                "there is no place for contexts because HOME is not set; name a database with --database-url"
            )
        }
        return home + "/.config/versiongate/config.yaml"
    }

    private init(path: String, all: [Context]) {
        self.path = path
        self.all = all
    }

    /// Reads the text of a file.
    init(_ text: String, path: String) throws {
        self.path = path
        func fault(_ node: Node?, _ message: String) -> CommandError {
            let place = node?.mark.map { ":\($0.line):\($0.column)" } ?? ""
            return CommandError("\(path)\(place): \(message)")
        }
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            let tab = text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
                $0.drop { $0 == " " }.first == "\t"
            }
            throw CommandError(
                tab.map { "\(path):\($0 + 1): a tab indents this line; indent with blanks" } ?? "\(path): \(error)"
            )
        }
        guard let root, root.null == nil else {
            all = []
            return
        }
        guard let members = root.mapping, let contexts = members["contexts"] else {
            throw fault(root, "the key contexts is missing; write: contexts: {prod: {database-url: postgresql://...}}")
        }
        if let other = members.keys.first(where: { $0.string != "contexts" }) {
            throw fault(other, "unknown key \(other.string ?? ""); the one key is contexts")
        }
        guard let named = contexts.mapping else {
            throw fault(contexts, "contexts is not a map of names; write: prod: {database-url: postgresql://...}")
        }
        all = try named.map { key, value in
            guard let name = key.scalar?.string, name.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil else {
                throw fault(key, "the name of a context consists of ASCII letters, digits, and . _ - between them")
            }
            if let other = value.mapping?.keys.first(where: { $0.string != "database-url" }) {
                throw fault(other, "unknown key \(other.string ?? ""); the one key of a context is database-url")
            }
            guard let address = value["database-url"]?.scalar?.string, !address.isEmpty else {
                throw fault(value, "the context \(name) has no database-url")
            }
            let settings: [String: String]
            do {
                settings = try PostgresConfiguration(connectionString: address).environment()
            } catch {
                throw fault(value, "the database-url of \(name) cannot be read; write: postgresql://USER@HOST/DATABASE")
            }
            guard settings["PGPASSWORD"] == nil else {
                throw fault(
                    value,
                    "the database-url of \(name) has a password; put it into ~/.pgpass, or into a file of that form that the "
                        + "address names: postgresql://USER@HOST/DATABASE?passfile=/home/me/.config/versiongate/\(name).pgpass"
                )
            }
            return Context(name: name, address: address)
        }
    }

    /// The address of a context.
    ///
    /// - Throws: `CommandError` that names those there are.
    func address(of name: String) throws -> String {
        if let context = all.first(where: { $0.name == name }) { return context.address }
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError(
                "there is no context \(name), as there is no file \(path); write it into that file: \(Self.example(name))"
            )
        }
        let others = all.map(\.name)
        throw CommandError(
            "there is no context \(name) in \(path); "
                + (others.isEmpty
                    ? "it has none; write: \(Self.example(name))"
                    : "there are \(others.joined(separator: ", "))")
        )
    }

    private static func example(_ name: String) -> String {
        "contexts: {\(name): {database-url: postgresql://...}}"
    }
}
