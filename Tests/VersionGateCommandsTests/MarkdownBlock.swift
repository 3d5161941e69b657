// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation

/// A fenced block of a page of the documentation.
struct MarkdownBlock {
    /// What stands behind the opening fence: the language, and more.
    let language: String
    let text: String

    /// The blocks of a page in order.
    ///
    /// - Parameter page: The path in the repository.
    static func all(in page: String) throws -> [MarkdownBlock] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../\(page)")
        var blocks: [MarkdownBlock] = []
        for (number, part) in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```").enumerated()
        where number % 2 == 1 {
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            blocks.append(MarkdownBlock(language: String(lines[0]), text: lines.count > 1 ? String(lines[1]) : ""))
        }
        return blocks
    }
}
