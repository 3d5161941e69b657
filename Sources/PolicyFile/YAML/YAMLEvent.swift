// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// What libyaml reports of a document, piece by piece.
struct YAMLEvent {
    enum Kind {
        case streamStart
        case streamEnd
        case documentStart
        case documentEnd
        case alias
        case scalar(String, isPlain: Bool)
        case sequenceStart
        case mappingStart
        case collectionEnd
    }

    let kind: Kind
    let position: FilePosition
    let hasAnchor: Bool
    let hasTag: Bool

    /// Whether a list or a map ends here.
    var isEnd: Bool {
        if case .collectionEnd = kind { true } else { false }
    }
}
