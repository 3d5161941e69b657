import Foundation

enum InputFile {
    static func name(_ path: String) -> String { path == "-" ? "<standard input>" : path }

    /// The bytes of a file, or of standard input for `-`; one byte more than `limit` at most.
    ///
    /// - Parameter what: What the file is, for messages: `the policy file`.
    static func contents(_ path: String, upTo limit: Int, what: String) throws -> [UInt8] {
        if isFolder(path) { throw CommandError("\(path) is a folder; name \(what) in it") }
        do {
            let handle = try handle(path)
            var bytes: [UInt8] = []
            while bytes.count <= limit, let part = try handle.read(upToCount: limit + 1 - bytes.count), !part.isEmpty {
                bytes += part
            }
            return bytes
        } catch {
            throw CommandError("\(name(path)) cannot be read: \(reason(error))")
        }
    }

    /// The text of a file in UTF-8, with line feeds alone at the ends of lines and none at its end.
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

    private static func handle(_ path: String) throws -> FileHandle {
        path == "-" ? CommandContext.current.standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return path != "-" && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Why a file could not be read or written, as the operating system says it where it does.
    static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        if cause.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(cause.code))) }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileReadNoSuchFile, .fileNoSuchFile: return String(cString: strerror(ENOENT))
        case .fileReadNoPermission, .fileWriteNoPermission: return String(cString: strerror(EACCES))
        case .fileWriteOutOfSpace: return String(cString: strerror(ENOSPC))
        default: return error.localizedDescription
        }
    }
}
