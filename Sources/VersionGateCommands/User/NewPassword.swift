import Foundation
import Postgres
import UpdatePolicy

/// A password for a user: asked for, read from a file, or made.
enum NewPassword {
    /// The least number of characters.
    private static let leastLength = 8
    /// The characters of a password that is made: none that is taken for another.
    private static let characters = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// A password of 130 random bits.
    static func random() -> String {
        var random = SystemRandomNumberGenerator()
        return String((0..<26).map { _ in characters.randomElement(using: &random) ?? "a" })
    }

    /// Reads the first line of a file, or of standard input for `-`.
    static func read(_ path: String) throws -> String {
        let text: Data?
        do {
            // Also of a pipe, as the shell makes one for <(...).
            text =
                try path == "-"
                ? CommandContext.current.standardInput.readToEnd()
                : FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd()
        } catch {
            throw CommandError("\(path) cannot be read: \(CommandError.reason(ofFileError: error))")
        }
        let line =
            String(decoding: text ?? Data(), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).first ?? ""
        return try judged(
            line.hasSuffix("\r") ? String(line.dropLast()) : String(line),
            from: path == "-" ? "standard input" : path
        )
    }

    /// Asks twice on the terminal, without showing what is typed.
    static func ask(for name: String) throws -> String {
        let password = try judged(try Terminal.secret("Password of \(name.visible()): "), from: nil)
        guard try Terminal.secret("Again: ") == password else {
            throw CommandError("the two passwords differ; nothing was changed")
        }
        return password
    }

    private static func judged(_ password: String, from source: String?) throws -> String {
        guard password.count >= leastLength else {
            let place = source.map { " in \($0)" } ?? ""
            throw CommandError("the password\(place) has fewer than \(leastLength) characters; nothing was changed")
        }
        return password
    }
}

extension Terminal {
    /// Asks a question whose answer is not shown.
    ///
    /// Keys are read one by one, so that an interruption can first switch the echo on again.
    static func secret(_ question: String) throws -> String {
        var usual = termios()
        guard tcgetattr(STDIN_FILENO, &usual) == 0 else { throw CommandError("standard input is no terminal") }
        var silent = usual
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual) }
        print(question, terminator: "")
        fflush(nil)
        defer { print("") }
        var typed: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else {
                throw CommandError("nothing was typed; nothing was changed")
            }
            switch byte {
            case 0x0A, 0x0D:
                return String(decoding: typed, as: UTF8.self)
            case 0x03, 0x04:
                throw CommandError("cancelled; nothing was changed")
            case 0x08, 0x7F:
                while let last = typed.popLast(), last & 0xC0 == 0x80 {}
            case 0x15:
                typed = []
            default:
                typed.append(byte)
            }
        }
    }
}

/// The address with which a user logs in.
enum LoginAddress {
    /// - Parameters:
    ///   - user: The name.
    ///   - address: Host, or the folder of the socket, port and database, as a connection gives it.
    static func text(user: String, address: String) -> String {
        let name = user.percentEncoded
        guard address.hasPrefix("/"), let colon = address.lastIndex(of: ":") else {
            return "postgresql://\(name)@\(address)"
        }
        let portAndDatabase = address[address.index(after: colon)...].split(separator: "/", maxSplits: 1)
        let (port, database) = (portAndDatabase.first ?? "", portAndDatabase.last ?? "")
        return "postgresql://\(name)@/\(database)?host=\(address[..<colon])&port=\(port)"
    }
}
