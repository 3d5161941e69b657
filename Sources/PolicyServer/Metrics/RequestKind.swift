// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1

/// What requests are told apart by in metrics.
struct RequestKind: Hashable, Sendable {
    /// The route that was asked for; paths that are not served are one.
    enum Route: String, Sendable, CaseIterable {
        case check = "/v1/check"
        case legacyCheck = "/tables/vLoadMessages"
        case other = "other"

        /// The route of a request target; in doubt another one.
        init(target: String) {
            let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
            self = Self.allCases.first { path.elementsEqual($0.rawValue.utf8) } ?? .other
        }
    }

    /// The method; those that no route knows are one.
    enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case other = "_OTHER"

        init(_ method: HTTPMethod) {
            switch method {
            case .GET: self = .get
            case .HEAD: self = .head
            case .POST: self = .post
            default: self = .other
            }
        }
    }

    let route: Route
    let method: Method
    /// The status of the response.
    let status: UInt16

    /// The most frequent kind, which is not looked for.
    static let answeredCheck = RequestKind(route: .check, method: .post, status: 200)
}
