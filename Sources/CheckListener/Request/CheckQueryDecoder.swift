import NIOHTTP1
import UpdatePolicy

/// Reads the query of `GET /v1/check` into a client.
struct CheckQueryDecoder {
    let query: UnsafeRawBufferPointer
    /// Where the query begins among the bytes of the client.
    let start: Int

    /// Reads a whole query, the part of the request target after the question mark.
    ///
    /// - Throws: a fault that names the member that is wrong: 414 when the query is too long, else 400.
    static func read(_ query: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        guard query.count <= QueryMembers.maximumSize else {
            throw RequestFault(
                .uriTooLong,
                "The query has \(query.count) bytes; at most \(QueryMembers.maximumSize) are read. Use POST for more."
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
        var members = QueryMembers(query)
        while let member = members.next() {
            let name = try range(of: member.name, in: member.pair, &client)
            let value = try range(of: member.value, in: member.pair, &client)
            do throws(ClientError) {
                try client.setMember(at: name, to: .text(value))
            } catch {
                throw .badRequest("\(error)")
            }
        }
    }

    /// Where a text of a pair is among the bytes of the client, its percent-encoding resolved.
    private func range(
        of text: Range<Int>,
        in pair: Range<Int>,
        _ client: inout Client
    ) throws(RequestFault) -> Range<Int> {
        do throws(PercentEncoding.Fault) {
            let decoded = try PercentEncoding.decoded(UnsafeRawBufferPointer(rebasing: query[text]))
            return decoded.map { decoded in decoded.withUnsafeBytes { client.append($0) } }
                ?? (start + text.lowerBound)..<(start + text.upperBound)
        } catch {
            let excerpt = RequestFault.excerpt(String(decoding: query[pair], as: UTF8.self)[...])
            throw .badRequest("The query is wrong at \"\(excerpt)\": \(error.detail).")
        }
    }
}
