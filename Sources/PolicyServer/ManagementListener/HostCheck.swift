// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CheckListener

/// The hosts that the management listener may be asked for.
///
/// A web page can make its own name point to the address of this listener (DNS rebinding), and then read its answers in
/// the browser of somebody who can reach it. The browser sends that name as the Host. So the Host must be an IP address,
/// `localhost`, or a name that the configuration lists; a request without one is from no browser.
struct HostCheck {
    /// The answer to a request for another host.
    struct Problem: Encodable {
        let title = "Misdirected Request"
        let status = 421
        let detail: String

        init(host: String) {
            detail = """
                the Host "\(host.prefix(255))" is not known to the management listener; ask for an IP address or \
                localhost, or start the server with --management-names (VERSIONGATE_MANAGEMENT_NAMES)
                """
        }
    }

    private let names: Set<String>

    /// - Parameter names: Names that are allowed besides `localhost`.
    init(names: [String]) {
        self.names = Set(names.map { $0.lowercased() } + ["localhost"])
    }

    /// Whether a Host, with or without a port, may be asked for.
    func isAllowed(_ host: String) -> Bool {
        guard !host.isEmpty else { return true }
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return false }
            return IPAddress(host[host.index(after: host.startIndex)..<end]) != nil
        }
        let name = host.prefix { $0 != ":" }.lowercased()
        return names.contains(name.hasSuffix(".") ? String(name.dropLast()) : name) || IPAddress(name) != nil
    }
}
