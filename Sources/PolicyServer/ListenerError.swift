// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Glibc
import NIOCore

/// A listener could not be opened.
public struct ListenerError: Error, CustomStringConvertible {
    /// Which listener: `public` or `management`.
    public let listener: String
    /// Where it was to listen.
    public let address: ListenAddress
    private let reason: any Error

    init(listener: String, address: ListenAddress, reason: any Error) {
        self.listener = listener
        self.address = address
        self.reason = reason
    }

    /// The fault, where it is and what to do.
    public var description: String {
        let option = listener == "public" ? "" : "management-"
        return """
            the \(listener) listener cannot be opened at \(address.host):\(address.port): \(reasonText). \
            Choose another address with --\(option)host and --\(option)port, or stop what uses this one.
            """
    }

    private var reasonText: String {
        guard let error = reason as? IOError else { return "\(reason)" }
        return switch error.errnoCode {
        case EADDRINUSE: "the port is in use"
        case EACCES: "this user may not listen on that port"
        case EADDRNOTAVAIL: "this machine has no such address"
        default: error.description
        }
    }
}
