// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import NIOHTTP1

/// A status that the public listener answers with a problem document.
public enum ProblemStatus: Int, Sendable, CaseIterable {
    /// 400 Bad Request
    case badRequest
    /// 404 Not Found
    case notFound
    /// 405 Method Not Allowed
    case methodNotAllowed
    /// 408 Request Timeout
    case requestTimeout
    /// 413 Content Too Large
    case contentTooLarge
    /// 414 URI Too Long
    case uriTooLong
    /// 415 Unsupported Media Type
    case unsupportedMediaType
    /// 429 Too Many Requests
    case tooManyRequests
    /// 431 Request Header Fields Too Large
    case headerFieldsTooLarge

    /// The status code.
    public var code: Int { Int(response.code) }

    /// The status of a response.
    var response: HTTPResponseStatus {
        switch self {
        case .badRequest: .badRequest
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        case .contentTooLarge: .payloadTooLarge
        case .uriTooLong: .uriTooLong
        case .unsupportedMediaType: .unsupportedMediaType
        case .tooManyRequests: .tooManyRequests
        case .headerFieldsTooLarge: .requestHeaderFieldsTooLarge
        }
    }

    /// The status of a response; nil for one that is no problem of the public listener.
    init?(_ response: HTTPResponseStatus) {
        guard let status = Self.allCases.first(where: { $0.response == response }) else { return nil }
        self = status
    }
}
