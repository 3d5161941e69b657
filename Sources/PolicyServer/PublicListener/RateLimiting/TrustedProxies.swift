// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

/// The proxies whose word about a client's address is taken.
public struct TrustedProxies: Hashable, Sendable {
    private let ranges: [AddressRange]

    /// No proxies, or those of some ranges.
    public init(_ ranges: [AddressRange] = []) {
        self.ranges = ranges
    }

    /// Reads ranges in CIDR notation, separated by commas.
    ///
    /// - Throws: ``ConfigurationError`` with the first one that cannot be read.
    public init(parsing text: String) throws(ConfigurationError) {
        var ranges: [AddressRange] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part.trimming(\.isWhitespace))
            guard let range = AddressRange(name) else {
                throw ConfigurationError(
                    "\"\(name)\" is not a range of addresses; write 10.0.0.0/8, 2001:db8::/32 or a single address, "
                        + "with no bits set after the length"
                )
            }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// Whether an address is a trusted proxy's.
    func contains(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// Who sent a request: the last address in `X-Forwarded-For` that is not a trusted proxy's.
    ///
    /// Each proxy adds whom it heard from at the end, so what stands before an address that is not trusted may be
    /// invented. What cannot be read as an address ends the search, at the proxy that passed it on.
    ///
    /// - Parameters:
    ///   - peer: The other end of the connection.
    ///   - forwardedFor: The values of the header fields, in order.
    func client(peer: IPAddress, forwardedFor: [String]) -> IPAddress {
        var client = peer
        for value in forwardedFor.reversed() {
            for part in value.split(separator: ",").reversed() {
                guard contains(client), let address = Self.address(part.trimming(\.isWhitespace)) else { return client }
                client = address
            }
        }
        return client
    }

    /// Reads an address that may have a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
    private static func address(_ text: Substring) -> IPAddress? {
        if text.first == "[" {
            return text.dropFirst().firstIndex(of: "]").flatMap { IPAddress(text.dropFirst()[..<$0]) }
        }
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        return IPAddress(parts.count == 2 ? parts[0] : text)
    }
}

extension Substring {
    /// The text without the characters at both ends that satisfy a condition.
    fileprivate func trimming(_ isCut: (Character) -> Bool) -> Substring {
        let start = drop(while: isCut)
        guard let last = start.lastIndex(where: { !isCut($0) }) else { return "" }
        return start[...last]
    }
}
