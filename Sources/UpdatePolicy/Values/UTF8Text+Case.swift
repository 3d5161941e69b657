// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension UTF8Text {
    /// The text with its ASCII letters made lower-case: what is equal where ASCII case does not count.
    public var lowercasedASCII: UTF8Text {
        UTF8Text(ASCII.lowercased(string))
    }
}
