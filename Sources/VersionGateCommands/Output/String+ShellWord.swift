// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension String {
    /// The text as a word of a shell, in quotes where it needs them.
    var shellWord: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                || "-_./:=@%+,".unicodeScalars.contains(scalar)
        }
        return isPlain && !isEmpty ? self : "'\(replacing("'", with: #"'\''"#))'"
    }
}
