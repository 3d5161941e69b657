// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOCore

/// An IPv4 or IPv6 address, as 128 bits; IPv4 in the form that IPv6 maps it to (`::ffff:0:0/96`).
///
/// So an IPv4 client is the same one on a socket that listens for both.
struct IPAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// Whether this is an IPv4 address.
    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(ipv4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
    }

    init(ipv6 groups: [UInt16]) {
        precondition(groups.count == 8)
        self.init(
            high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) },
            low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) }
        )
    }

    /// The address of a peer; nil for one without (a Unix domain socket).
    init?(_ address: SocketAddress?) {
        // A zone (`fe80::1%eth0`) tells interfaces apart, not clients.
        guard let text = address?.ipAddress?.split(separator: "%").first else { return nil }
        self.init(text)
    }

    /// Reads an address in the textual form of [RFC 4291, 2.2](https://www.rfc-editor.org/rfc/rfc4291#section-2.2) or in
    /// four decimal numbers joined by dots; nil for all else.
    init?(_ text: some StringProtocol) {
        if !text.utf8.contains(UInt8(ascii: ":")) {
            guard let address = Self.ipv4(text) else { return nil }
            self.init(ipv4: address)
            return
        }
        guard let groups = Self.ipv6(text) else { return nil }
        self.init(ipv6: groups)
    }

    /// The address with all bits after the first `length`, 0 to 128, set to 0.
    func masked(to length: Int) -> IPAddress {
        IPAddress(
            high: high & Self.mask(length),
            low: low & Self.mask(length - 64)
        )
    }

    private static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(.max >> UInt64(length))
    }

    private static func ipv4(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            // A leading zero may mean an octal number to others.
            guard part.utf8.count <= 3, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part == "0" || part.utf8.first != UInt8(ascii: "0"), let byte = UInt8(part)
            else { return nil }
            address = address << 8 | UInt32(byte)
        }
        return address
    }

    private static func ipv6(_ text: some StringProtocol) -> [UInt16]? {
        guard text.utf8.count <= 45 else { return nil }
        guard let gap = text.firstRange(of: "::") else {
            guard let groups = groups(text[...]), groups.count == 8 else { return nil }
            return groups
        }
        let before = text[..<gap.lowerBound]
        let after = text[gap.upperBound...]
        guard let head = before.isEmpty ? [] : groups(before), !before.utf8.contains(UInt8(ascii: ".")),
            let tail = after.isEmpty ? [] : groups(after), head.count + tail.count <= 7
        else { return nil }
        return head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    }

    /// The groups of a text without `::`; the last two may be written as an IPv4 address.
    private static func groups(_ text: some StringProtocol) -> [UInt16]? {
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let address = ipv4(part) {
                groups += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }
}
