/// The proxies whose `X-Forwarded-For` is believed.
package struct TrustedProxies: Hashable, Sendable {
    private var ranges: [AddressRange] = []

    package init() {}

    /// Reads ranges in CIDR notation, separated by commas.
    ///
    /// - Throws: ``LimitSyntaxError`` with the first one that cannot be read.
    package init(parsing text: String) throws(LimitSyntaxError) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = String(part.trimmingBlanks())
            guard let range = AddressRange(name) else {
                throw LimitSyntaxError(
                    "\"\(name)\" is not a range of addresses; write 10.0.0.0/8, 2001:db8::/32 or a single address, "
                        + "with no bits set after the length"
                )
            }
            ranges.append(range)
        }
    }

    func contains(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// Who sent a request: the last address in `X-Forwarded-For` that is not a trusted proxy's.
    ///
    /// Each proxy appends the address of its peer, so everything before an untrusted address may be invented. What cannot
    /// be read as an address ends the search at the proxy that passed it on.
    func client(peer: IPAddress, forwardedFor: [String]) -> IPAddress {
        var client = peer
        var elements = 0
        for value in forwardedFor.reversed() {
            var rest = value[...]
            while !rest.isEmpty {
                guard elements < Self.maximumElements, contains(client) else { return client }
                elements += 1
                let start = rest.utf8.lastIndex(of: UInt8(ascii: ",")).map(rest.utf8.index(after:)) ?? rest.startIndex
                let part = rest[start...]
                rest = Substring(rest.utf8[..<start].dropLast())
                if part.isEmpty { continue }
                guard let address = Self.address(part.trimmingBlanks()) else { return client }
                client = address
            }
        }
        return client
    }

    /// How many elements of the list are read, one for each proxy; what stands before them is not.
    private static let maximumElements = 32

    /// Reads an address that may have a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
    private static func address(_ text: Substring) -> IPAddress? {
        let utf8 = text.utf8
        if utf8.first == UInt8(ascii: "[") {
            return utf8.firstIndex(of: UInt8(ascii: "]")).flatMap { IPAddress(Substring(utf8[..<$0].dropFirst())) }
        }
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")),
            colon == utf8.lastIndex(of: UInt8(ascii: ":"))
        else { return IPAddress(text) }
        return IPAddress(text[..<colon])
    }
}

extension Substring {
    /// Without the spaces and tabs at both ends.
    func trimmingBlanks() -> Substring { Substring(utf8.trimmingBlanks) }
}
