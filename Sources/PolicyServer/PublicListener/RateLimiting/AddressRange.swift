// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// A range of addresses in CIDR notation (`10.0.0.0/8`, `2001:db8::/32`); without a length it is one address.
public struct AddressRange: Hashable, Sendable {
    private let base: IPAddress
    private let length: Int

    /// Reads a range; nil for what is not one, or has bits set after the length.
    public init?(_ text: String) {
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

    /// Whether an address is in the range.
    func contains(_ address: IPAddress) -> Bool {
        address.masked(to: length) == base
    }
}
