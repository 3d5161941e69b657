import UpdatePolicy

/// The header field `Host`: a host as in a URI, and perhaps a port.
///
/// Sources: [RFC 9110, 7.2](https://www.rfc-editor.org/rfc/rfc9110#section-7.2) and
/// [RFC 3986, 3.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2).
enum HostField {
    /// Whether the bytes of a value of the field are one; it may be empty.
    ///
    /// A server that does not refuse the others may understand them differently from a proxy before it.
    static func isValid(_ value: UnsafeRawBufferPointer) -> Bool {
        // Nearly every one is a plain name, perhaps with a port.
        let nameEnd = value.end(of: .name, from: 0)
        var rest = value[nameEnd...]
        if nameEnd == 0, rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[..<end].dropFirst()
            guard !address.isEmpty, address.allSatisfy({ isNamePart($0) || $0 == UInt8(ascii: ":") }) else {
                return false
            }
            rest = rest[end...].dropFirst()
        } else {
            while let byte = rest.first, byte != UInt8(ascii: ":") {
                rest.removeFirst()
                if byte == UInt8(ascii: "%") {
                    guard rest.popFirst()?.hexadecimalDigit != nil, rest.popFirst()?.hexadecimalDigit != nil else {
                        return false
                    }
                } else if !isNamePart(byte) {
                    return false
                }
            }
        }
        guard let colon = rest.popFirst() else { return true }
        guard colon == UInt8(ascii: ":"), rest.count <= 5 else { return false }
        var port = 0
        for byte in rest {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return false }
            port = port &* 10 &+ Int(digit)
        }
        return port <= UInt16.max
    }

    /// Whether a byte is unreserved or a delimiter within a part of a URI: ! $ & ' ( ) * + , - . ; = _ ~, digits and letters.
    @inline(__always)
    private static func isNamePart(_ byte: UInt8) -> Bool {
        ByteSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE).contains(byte)
    }
}
