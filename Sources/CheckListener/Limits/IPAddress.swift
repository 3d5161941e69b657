import Glibc
package import NIOCore

/// An IPv4 or IPv6 address, as 128 bits; IPv4 in the form that IPv6 maps it to (`::ffff:0:0/96`).
///
/// So an IPv4 client is the same one on a socket that listens for both.
package struct IPAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    package var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether this is an address of the machine for itself: 127.0.0.0/8 or `::1`.
    package var isLoopback: Bool {
        isIPv4 ? low & 0xFF00_0000 == 0x7F00_0000 : high == 0 && low == 1
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(ipv4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(address))
    }

    /// The address of a peer; nil for one without (a Unix domain socket).
    ///
    /// A zone (`fe80::1%eth0`) tells interfaces apart, not clients, so it does not count.
    package init?(_ address: SocketAddress?) {
        let read = address?.withSockAddr { pointer, _ -> IPAddress? in
            let bytes = UnsafeRawPointer(pointer)
            return switch Int32(pointer.pointee.sa_family) {
            // Behind the family and the port; in IPv6 behind the flow label as well.
            case AF_INET: IPAddress(ipv4: bytes + 4)
            case AF_INET6: IPAddress(ipv6: bytes + 8)
            default: nil
            }
        }
        guard let read = read ?? nil else { return nil }
        self = read
    }

    /// Reads an address in the textual form of [RFC 4291, 2.2](https://www.rfc-editor.org/rfc/rfc4291#section-2.2) or in
    /// four decimal numbers joined by dots; nil for all else.
    package init?(_ text: some StringProtocol) {
        // The longest is an IPv6 address that ends with an IPv4 one.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        let text = String(text)
        let read = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes -> IPAddress? in
            guard let start = bytes.baseAddress else { return nil }
            if inet_pton(AF_INET, text, start) == 1 { return IPAddress(ipv4: UnsafeRawPointer(start)) }
            return inet_pton(AF_INET6, text, start) == 1 ? IPAddress(ipv6: UnsafeRawPointer(start)) : nil
        }
        guard let read else { return nil }
        self = read
    }

    private init(ipv4 bytes: UnsafeRawPointer) {
        self.init(ipv4: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    }

    private init(ipv6 bytes: UnsafeRawPointer) {
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    /// The address with all bits after the first `length`, 0 to 128, set to 0.
    func masked(to length: Int) -> IPAddress {
        IPAddress(high: high & Self.mask(length), low: low & Self.mask(length - 64))
    }

    private static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(.max >> UInt64(length))
    }
}

/// The unit of limits per address: one IPv4 address, or one IPv6 /64 network, which belongs to one customer.
struct AddressBlock: Hashable, Sendable {
    /// The first address of the block.
    let base: IPAddress

    init(_ address: IPAddress) {
        base = address.isIPv4 ? address : address.masked(to: 64)
    }
}

/// A range of addresses in CIDR notation (`10.0.0.0/8`, `2001:db8::/32`); without a length it is one address.
struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    /// Reads a range; nil for what is not one, or has bits set after the length.
    init?(_ text: String) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(halves[0]) else { return nil }
        let width = address.isIPv4 && !halves[0].contains(":") ? 32 : 128
        var written = width
        if halves.count > 1 {
            guard let length = Int(halves[1]), (0...width).contains(length), "\(length)" == halves[1] else {
                return nil
            }
            written = length
        }
        length = written + 128 - width
        base = address.masked(to: length)
        guard base == address else { return nil }
    }

    func contains(_ address: IPAddress) -> Bool {
        address.masked(to: length) == base
    }
}
