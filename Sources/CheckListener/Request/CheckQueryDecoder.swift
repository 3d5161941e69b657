// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1
import UpdatePolicy

/// Reads the query of `GET /v1/check` into a client.
///
/// Percent-encoding is that of [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-2.1); a plus sign is a plus
/// sign, because versions have one (`1.0+45`).
enum CheckQueryDecoder {
    /// The most bytes a query may have.
    static let maximumQuerySize = 8_192

    /// Reads a whole query, the part of the request target after the question mark.
    ///
    /// - Throws: a fault that names the member that is wrong: 414 when the query is too long, else 400.
    static func read(_ query: Substring, into client: inout Client) throws(RequestFault) {
        guard query.utf8.count <= maximumQuerySize else {
            throw RequestFault(
                .uriTooLong,
                "The query has \(query.utf8.count) bytes; at most \(maximumQuerySize) are read. Use POST for more."
            )
        }
        var rest = query.utf8
        while !rest.isEmpty {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[pair.endIndex...].dropFirst()
            if pair.isEmpty { continue }
            let encodedName = pair.prefix { $0 != UInt8(ascii: "=") }
            let name = try text(encodedName, of: pair)
            let value = try text(pair[encodedName.endIndex...].dropFirst(), of: pair)
            do throws(ClientError) {
                try client.set(name, to: .text(value))
            } catch {
                throw .badRequest("\(error)")
            }
        }
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    private static func text(
        _ encoded: Substring.UTF8View,
        of pair: Substring.UTF8View
    ) throws(RequestFault) -> UTF8Text {
        guard encoded.contains(UInt8(ascii: "%")) else {
            return UTF8Text(String(Substring(encoded)))
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var bytes = encoded.makeIterator()
        while let byte = bytes.next() {
            if byte != UInt8(ascii: "%") {
                decoded.append(byte)
                continue
            }
            guard let high = bytes.next()?.hexadecimalDigit, let low = bytes.next()?.hexadecimalDigit else {
                throw fault(pair, "two hexadecimal digits must follow a percent sign")
            }
            decoded.append(high << 4 | low)
        }
        guard let string = String(validating: decoded, as: UTF8.self), !decoded.contains(0) else {
            throw fault(pair, "it must be UTF-8 without the character U+0000")
        }
        return UTF8Text(string)
    }

    private static func fault(_ pair: Substring.UTF8View, _ what: String) -> RequestFault {
        .badRequest("The query is wrong at \"\(RequestFault.excerpt(Substring(pair)))\": \(what).")
    }
}
