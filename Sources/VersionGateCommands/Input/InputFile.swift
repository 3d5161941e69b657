import Foundation

/// A file that a command reads: a policy file, notes, a template.
enum InputFile {
    /// The name of a path as messages show it.
    static func name(_ path: String) -> String { path == "-" ? "<standard input>" : path }

    /// The bytes of a file, or of standard input for `-`; one byte more than `limit` at most.
    ///
    /// - Parameters:
    ///   - limit: The most bytes that the caller takes.
    ///   - what: What the file is, for messages: `the policy file`.
    /// - Throws: `CommandError` that says why it cannot be read.
    static func contents(_ path: String, upTo limit: Int, what: String) throws -> [UInt8] {
        var isFolder: ObjCBool = false
        if path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw CommandError("\(path) is a folder; name \(what) in it")
        }
        do {
            let handle =
                path == "-"
                ? CommandContext.current.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var bytes: [UInt8] = []
            while bytes.count <= limit, let part = try handle.read(upToCount: limit + 1 - bytes.count), !part.isEmpty {
                bytes += part
            }
            return bytes
        } catch {
            throw CommandError("\(name(path)) cannot be read: \(CommandError.reason(ofFileError: error))")
        }
    }

    /// The text of a file, with line feeds alone at the ends of lines and none at its end.
    ///
    /// - Throws: `CommandError` where it is too long, is not UTF-8, or cannot be read.
    static func text(_ path: String, upTo limit: Int, what: String) throws -> String {
        let bytes = try contents(path, upTo: limit, what: what)
        guard bytes.count <= limit else {
            throw CommandError("\(name(path)) has more than \(limit) bytes; shorten it")
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard let text = String(validating: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        else {
            throw CommandError("\(name(path)) is not UTF-8; save it in UTF-8")
        }
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.last == "\r" ? line.dropLast() : line
        }
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        return String(String.UnicodeScalarView(lines.joined(separator: ["\n" as Unicode.Scalar])))
    }
}
