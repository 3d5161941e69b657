// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore
import UpdatePolicy

/// Reads the JSON body of a check into a client, in one pass over the bytes.
///
/// Grammar: [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259). Numbers keep the text they were written as, which no
/// general JSON library offers: `1.10` is version 1.10. Strings must be valid UTF-8 without U+0000.
///
/// Texts are handed to the client where they stand in the body; only those with escapes are copied before.
struct CheckBodyDecoder {
    /// The most bytes a body may have.
    static let maximumBodySize = 16_384
    /// How deep objects and arrays may be nested, the outermost object included.
    static let maximumDepth = 32

    /// A string: in the body where it has no escapes, else among those that were copied.
    struct Text {
        let range: Range<Int>
        let isCopied: Bool
    }

    /// The value of a member.
    enum Value {
        case string(Text)
        case number(Range<Int>)
        case boolean(Bool)
        case null
        case composite
    }

    let bytes: UnsafeRawBufferPointer
    var position = 0
    /// The strings with escapes, which are resolved, one after the other.
    var copied: [UInt8] = []

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads a whole body.
    ///
    /// - Throws: a fault of status 400 that names the member or the byte that is wrong.
    static func read(_ body: UnsafeRawBufferPointer, into client: inout Client) throws(RequestFault) {
        var decoder = CheckBodyDecoder(body)
        try decoder.decodeMembers(into: &client)
    }

    /// Reads a whole body.
    static func read(_ body: ByteBuffer, into client: inout Client) throws(RequestFault) {
        let fault = body.withUnsafeReadableBytes { bytes -> RequestFault? in
            do throws(RequestFault) {
                try read(bytes, into: &client)
                return nil
            } catch {
                return error
            }
        }
        if let fault { throw fault }
    }

    private mutating func decodeMembers(into client: inout Client) throws(RequestFault) {
        skipWhitespace()
        guard position < bytes.count else {
            throw .badRequest("The body is empty; send a JSON object with at least the member \"bundle\".")
        }
        guard bytes[position] == UInt8(ascii: "{") else {
            let kind = isStartOfValue(bytes[position]) ? "JSON, but not an object" : "not JSON"
            throw .badRequest("The body is \(kind); send a JSON object with at least the member \"bundle\".")
        }
        position += 1
        skipWhitespace()
        if peek == UInt8(ascii: "}") {
            position += 1
        } else {
            while true {
                skipWhitespace()
                try decodeMember(into: &client)
                skipWhitespace()
                if peek == UInt8(ascii: ",") {
                    position += 1
                } else if peek == UInt8(ascii: "}") {
                    position += 1
                    break
                } else {
                    throw unexpected("a comma or the closing brace")
                }
            }
        }
        skipWhitespace()
        guard position == bytes.count else {
            throw unexpected("the end of the body")
        }
        do throws(ClientError) {
            try client.validate()
        } catch {
            throw .badRequest("\(error)")
        }
    }

    private mutating func decodeMember(into client: inout Client) throws(RequestFault) {
        let start = position
        guard peek == UInt8(ascii: "\"") else {
            throw unexpected("a member's name in double quotes")
        }
        let field = takeField()
        let name = field == nil ? try decodeString() : nil
        skipWhitespace()
        guard peek == UInt8(ascii: ":") else {
            throw unexpected("a colon")
        }
        position += 1
        skipWhitespace()
        let value = try decodeValue()
        do throws(ClientError) {
            try withBytes(of: value) { (value) throws(ClientError) in
                if let field {
                    try client.set(field, to: value)
                } else if let name {
                    try withBytes(of: name) { (name) throws(ClientError) in try Self.set(name, to: value, in: &client) }
                }
            }
        } catch {
            throw .badRequest("\(error) (at byte \(start) of the body)")
        }
    }

    /// Takes over a member whose name is no field, or is written with escapes.
    private static func set(
        _ name: UnsafeRawBufferPointer,
        to value: MemberBytes,
        in client: inout Client
    ) throws(ClientError) {
        if let field = ClientField(name: name) {
            try client.set(field, to: value)
        } else {
            try client.setAttribute(name, to: value)
        }
    }

    // MARK: Single bytes

    var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func isStartOfValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            true
        default: false
        }
    }

    func fault(_ what: String) -> RequestFault {
        .badRequest("The body is not acceptable JSON: \(what) (at byte \(position) of the body).")
    }

    func unexpected(_ wanted: String) -> RequestFault {
        position < bytes.count
            ? .badRequest("The body is not JSON: \(wanted) is missing at byte \(position).")
            : .badRequest("The body is not JSON: it ends where \(wanted) should stand.")
    }
}
