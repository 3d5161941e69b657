// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Crypto

/// The name of an answer by its content, by which a cache asks whether the one it keeps still holds.
///
/// A strong validator: half of the SHA-256 of the bytes of the answer. It is never made from the revision, because the
/// clock changes answers too, and most edits leave most answers as they were.
///
/// Source: [RFC 9110, 8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
struct EntityTag: Hashable {
    /// The tag as it stands in a header, with its quotes.
    let text: String

    /// Names an answer.
    init(of body: [UInt8]) {
        let digits = SHA256.hash(data: body).prefix(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        text = "\"\(digits.joined())\""
    }
}
