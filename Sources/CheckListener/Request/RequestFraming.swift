// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1

/// The length of a request and the use of the connection as its head states them, read in one pass over the fields.
///
/// The parser refuses most of what could be read in two ways by itself; what it lets through is refused here.
struct RequestFraming {
    /// What makes a head one that servers and proxies may understand differently.
    enum Irregularity {
        /// A coding other than `chunked`, twice `chunked`, none, or any in HTTP/1.0.
        case transferCoding
        /// A length of more than 63 bits.
        case contentLength
        /// HTTP/1.1 without a `Host`, more than one, or one that names no host.
        case host
    }

    /// What metrics call the method.
    let method: RequestKind.Method
    /// Whether the response has no body.
    let isHead: Bool
    /// Whether the client speaks HTTP/1.1.
    let isHTTP11: Bool
    /// Whether the client wants to keep the connection, and can.
    let isKeepAlive: Bool
    /// The length that the request says its body has: nil when the body is chunked, 0 when there is none.
    private(set) var declaredLength: Int?
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool
    /// A content encoding that is not `identity`.
    let contentEncoding: String?
    /// Why the length of the request is not certain; nil when it is.
    let irregularity: Irregularity?

    /// Whether a body follows the head.
    var hasBody: Bool { declaredLength != 0 }

    /// The framing once the body has been read.
    var withoutBody: RequestFraming {
        var framing = self
        framing.declaredLength = 0
        return framing
    }

    init(_ head: HTTPRequestHead) {
        method = RequestKind.Method(head.method)
        isHead = method == .head
        isHTTP11 = head.version == .http1_1
        var length = 0
        var transferCodings = 0
        var isChunked = false
        var hosts = 0
        var isHostReadable = true
        var isLengthReadable = true
        var asksForUpgrade = head.method == .CONNECT
        var expectation: String?
        var encoding: String?
        for (name, value) in head.headers {
            switch name.utf8.count {
            case 4 where name.isSameField(as: "host"):
                hosts += 1
                isHostReadable = HostField.isValid(value)
            case 6 where name.isSameField(as: "expect"):
                expectation = value
            case 7 where name.isSameField(as: "upgrade"):
                asksForUpgrade = true
            case 14 where name.isSameField(as: "content-length"):
                // The parser has made sure that these are digits.
                if let number = Int(value) { length = number } else { isLengthReadable = false }
            case 16 where name.isSameField(as: "content-encoding") && !value.isSameField(as: "identity"):
                encoding = value
            case 17 where name.isSameField(as: "transfer-encoding"):
                transferCodings += 1
                isChunked = value.isSameField(as: "chunked")
            default:
                break
            }
        }
        // The parser stops after a request that asks for another protocol, which none is ever given.
        isKeepAlive = head.isKeepAlive && !asksForUpgrade
        declaredLength = transferCodings > 0 ? nil : length
        expectsContinue = (transferCodings > 0 || length > 0) && expectation?.isSameField(as: "100-continue") == true
        contentEncoding = encoding
        irregularity =
            if transferCodings > 1 || transferCodings == 1 && !(isChunked && isHTTP11) {
                .transferCoding
            } else if !isLengthReadable {
                .contentLength
            } else if hosts > 1 || hosts == 0 && isHTTP11 || !isHostReadable {
                .host
            } else {
                nil
            }
    }
}

extension RequestFraming.Irregularity {
    /// The response to the client.
    var fault: RequestFault {
        switch self {
        case .transferCoding:
            .badRequest(
                "The request has a Transfer-Encoding that is not read; send Content-Length, or \"chunked\" in HTTP/1.1."
            )
        case .contentLength:
            .badRequest("The Content-Length of the request is too large to be one.")
        case .host:
            .badRequest("The request must have the header field Host once, with a host and perhaps a port in it.")
        }
    }
}

extension String {
    /// Whether two texts are the same but for the case of ASCII letters.
    ///
    /// - Parameter lowercased: The other text, in lower case.
    fileprivate func isSameField(as lowercased: StaticString) -> Bool {
        guard utf8.count == lowercased.utf8CodeUnitCount else { return false }
        var other = lowercased.utf8Start
        for byte in utf8 {
            let isUpper = byte &- UInt8(ascii: "A") < 26
            guard (isUpper ? byte | 0x20 : byte) == other.pointee else { return false }
            other += 1
        }
        return true
    }
}
