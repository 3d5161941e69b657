// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1
import UpdatePolicy

/// Reads the query of `GET /v1/check` into a client.
///
/// Percent-encoding is that of [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986#section-2.1); a plus sign is a plus
/// sign, because versions have one (`1.0+45`).
struct CheckQueryDecoder {
    /// The most bytes a query may have.
    static let maximumQuerySize = 8_192

    let query: UnsafeRawBufferPointer
    /// Where the query begins among the bytes of the client.
    let start: Int

    /// Reads a whole query, the part of the request target after the question mark.
    ///
    /// - Throws: a fault that names the member that is wrong: 414 when the query is too long, else 400.
    static func read(_ query: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        guard query.count <= maximumQuerySize else {
            throw RequestFault(
                .uriTooLong,
                "The query has \(query.count) bytes; at most \(maximumQuerySize) are read. Use POST for more."
            )
        }
        try CheckQueryDecoder(query: query, start: client.append(query).lowerBound).decodeMembers(into: &client)
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    /// Reads a whole query.
    static func read(_ query: String, into client: inout Client) throws(RequestFault) {
        var query = query
        let fault = query.withUTF8 { bytes -> RequestFault? in
            do throws(RequestFault) {
                try read(UnsafeRawBufferPointer(bytes), into: &client)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw fault }
    }

    private func decodeMembers(into client: inout Client) throws(RequestFault) {
        var start = 0
        while start < query.count {
            var end = start
            var nameEnd: Int?
            while end < query.count, query[end] != UInt8(ascii: "&") {
                if nameEnd == nil, query[end] == UInt8(ascii: "=") { nameEnd = end }
                end += 1
            }
            if end > start { try decodeMember(start..<end, nameEnd: nameEnd ?? end, into: &client) }
            start = end + 1
        }
    }

    private func decodeMember(_ pair: Range<Int>, nameEnd: Int, into client: inout Client) throws(RequestFault) {
        let name = try range(of: pair.lowerBound..<nameEnd, in: pair, &client)
        let value = try range(of: min(nameEnd + 1, pair.upperBound)..<pair.upperBound, in: pair, &client)
        do throws(ClientError) {
            try client.setMember(at: name, to: .text(value))
        } catch {
            throw .badRequest("\(error)")
        }
    }

    /// Where a text of a pair is among the bytes of the client, its percent-encoding resolved.
    private func range(
        of text: Range<Int>,
        in pair: Range<Int>,
        _ client: inout Client
    ) throws(RequestFault) -> Range<Int> {
        guard query[text].contains(UInt8(ascii: "%")) else {
            return (start + text.lowerBound)..<(start + text.upperBound)
        }
        var decoded: [UInt8] = []
        var position = text.lowerBound
        while position < text.upperBound {
            let byte = query[position]
            position += 1
            if byte != UInt8(ascii: "%") {
                decoded.append(byte)
                continue
            }
            guard position + 1 < text.upperBound, let high = query[position].hexadecimalDigit,
                let low = query[position + 1].hexadecimalDigit
            else {
                throw fault(pair, "two hexadecimal digits must follow a percent sign")
            }
            decoded.append(high << 4 | low)
            position += 2
        }
        guard String(validating: decoded, as: UTF8.self) != nil, !decoded.contains(0) else {
            throw fault(pair, "it must be UTF-8 without the character U+0000")
        }
        return decoded.withUnsafeBytes { client.append($0) }
    }

    private func fault(_ pair: Range<Int>, _ what: String) -> RequestFault {
        let text = String(decoding: query[pair], as: UTF8.self)
        return .badRequest("The query is wrong at \"\(RequestFault.excerpt(text[...]))\": \(what).")
    }
}
