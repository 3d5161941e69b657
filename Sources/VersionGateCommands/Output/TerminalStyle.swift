// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// Colours for a terminal; none for anything else, and none with `NO_COLOR` (https://no-color.org).
struct TerminalStyle {
    /// Whether colours are written.
    let isColoured: Bool

    /// Colours if standard output is a terminal that knows them and the user wants them.
    static var standardOutput: TerminalStyle {
        let environment = ProcessInfo.processInfo.environment
        return TerminalStyle(
            isColoured: isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
                && environment["TERM"] != "dumb"
        )
    }

    /// Something new: green.
    func added(_ text: String) -> String { painted(text, "32") }

    /// Something different: yellow.
    func changed(_ text: String) -> String { painted(text, "33") }

    /// Something gone: red.
    func removed(_ text: String) -> String { painted(text, "31") }

    private func painted(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
