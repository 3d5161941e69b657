// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The pieces of an answer's JSON, which begin and end where prepared bytes are put in.
enum MessageBytes {
    static let textName = Array("text".utf8)
    static let legacyTextName = Array("message".utf8)
    static let opening = Array(#"{"messages":["#.utf8)
    static let closing = Array("]}".utf8)
    static let emptyLegacyAnswer = Array("{}".utf8)
    static let lockout = Array(#","lockout":true"#.utf8)

    /// Appends a message up to its link, but for the name of the text's member.
    ///
    /// - Returns: Where the name must be put in.
    static func append(id: String, title: String, text: String, to bytes: inout [UInt8]) -> Int {
        bytes += #"{"id":"#.utf8
        JSONString.append(id, to: &bytes)
        bytes += #","title":"#.utf8
        JSONString.append(title, to: &bytes)
        bytes += #",""#.utf8
        let split = bytes.count
        bytes += #"":"#.utf8
        JSONString.append(text, to: &bytes)
        return split
    }

    /// Appends a link, from the comma before its name on.
    static func append(link: String, to bytes: inout [UInt8]) {
        bytes += #","link":"#.utf8
        JSONString.append(link, to: &bytes)
    }
}
