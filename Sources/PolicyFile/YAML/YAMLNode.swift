// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A value of a YAML document with its place in the file. Scalars are kept as they are written, of no type.
struct YAMLNode {
    /// A scalar as a key, with the place where it stands.
    struct Key {
        let text: String
        let position: FilePosition
    }

    indirect enum Content {
        /// A text, and whether it stands there without quotation marks.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// No two keys have the same bytes.
        case mapping([(key: Key, value: YAMLNode)])
    }

    let content: Content
    let position: FilePosition

    /// Whether nothing is said: an empty value, or one that any YAML reader takes for null.
    var isAbsent: Bool {
        if case .scalar(let text, isPlain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}
