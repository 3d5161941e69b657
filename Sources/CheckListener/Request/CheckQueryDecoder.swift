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

    private let query: UnsafeRawBufferPointer
    /// The name and the value that are being read, as far as they are percent-encoded.
    private var decoded: [UInt8] = []

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
        var decoder = CheckQueryDecoder(query: query)
        try decoder.decodeMembers(into: &client)
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

    private init(query: UnsafeRawBufferPointer) {
        self.query = query
    }

    private mutating func decodeMembers(into client: inout Client) throws(RequestFault) {
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

    private mutating func decodeMember(
        _ pair: Range<Int>,
        nameEnd: Int,
        into client: inout Client
    ) throws(RequestFault) {
        decoded.removeAll(keepingCapacity: true)
        let name = try text(pair.lowerBound..<nameEnd, of: pair)
        let value = try text(min(nameEnd + 1, pair.upperBound)..<pair.upperBound, of: pair)
        do throws(ClientError) {
            try decoded.withUnsafeBufferPointer { (decoded) throws(ClientError) in
                let memory = UnsafeRawBufferPointer(decoded)
                let name = UnsafeRawBufferPointer(rebasing: (name.isDecoded ? memory : query)[name.range])
                let value = UnsafeRawBufferPointer(rebasing: (value.isDecoded ? memory : query)[value.range])
                if let field = ClientField(name: name) {
                    try client.set(field, to: .text(value))
                } else {
                    try client.setAttribute(name, to: .text(value))
                }
            }
        } catch {
            throw .badRequest("\(error)")
        }
    }

    /// A text of a pair: where it stands in the query, or among what was decoded.
    private mutating func text(
        _ range: Range<Int>,
        of pair: Range<Int>
    ) throws(RequestFault) -> (range: Range<Int>, isDecoded: Bool) {
        guard query[range].contains(UInt8(ascii: "%")) else { return (range, false) }
        let first = decoded.count
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = query[position]
            position += 1
            if byte != UInt8(ascii: "%") {
                decoded.append(byte)
                continue
            }
            guard position + 1 < range.upperBound, let high = query[position].hexadecimalDigit,
                let low = query[position + 1].hexadecimalDigit
            else {
                throw fault(pair, "two hexadecimal digits must follow a percent sign")
            }
            decoded.append(high << 4 | low)
            position += 2
        }
        let text = decoded[first...]
        guard String(validating: text, as: UTF8.self) != nil, !text.contains(0) else {
            throw fault(pair, "it must be UTF-8 without the character U+0000")
        }
        return (first..<decoded.count, true)
    }

    private func fault(_ pair: Range<Int>, _ what: String) -> RequestFault {
        let text = String(decoding: query[pair], as: UTF8.self)
        return .badRequest("The query is wrong at \"\(RequestFault.excerpt(text[...]))\": \(what).")
    }
}
