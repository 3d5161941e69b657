// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// Whom limits per address count together: one IPv4 address, or one IPv6 network of 64 bits, which a customer has whole.
struct AddressBlock: Hashable, Sendable {
    /// The first address of the block.
    let base: IPAddress

    init(_ address: IPAddress) {
        base = address.isIPv4 ? address : address.masked(to: 64)
    }
}
