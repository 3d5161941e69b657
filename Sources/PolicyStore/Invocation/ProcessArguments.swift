import Foundation

/// The arguments of this process, as every user of the machine can read them.
package enum ProcessArguments {
    /// The arguments without the name of the program.
    ///
    /// The kernel knows them. In a statically linked program Swift looks for them below the environment, which an agent in
    /// `LD_PRELOAD` that sets a variable has moved by then, and finds none.
    package static var words: [String] {
        guard let bytes = FileManager.default.contents(atPath: "/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return bytes.split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Overwrites a value that was given as an argument, or behind an equals sign in one, so that `ps` no longer shows it.
    ///
    /// Before that, other users could read it.
    package static func hide(_ value: String) {
        let secret = Array(value.utf8)
        guard !secret.isEmpty else { return }
        for index in 0..<Int(CommandLine.argc) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let length = strlen(argument)
            let start = length - secret.count
            guard start == 0 || start > 0 && argument[start - 1] == CChar(UInt8(ascii: "=")),
                memcmp(argument + start, secret, secret.count) == 0
            else { continue }
            memset(argument + start, Int32(UInt8(ascii: "*")), secret.count)
        }
    }
}
