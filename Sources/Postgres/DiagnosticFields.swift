// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import CLibpq

/// The fields of an error or a notice in a result of libpq.
struct DiagnosticFields {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { self.result = result }

    subscript(field: Int32) -> String? {
        PQresultErrorField(result, field).map { String(cString: $0) }
    }
}
