// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

extension String {
    /// Calls `body` with the UTF-8 bytes of the string, without copying them where they are stored as such.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        var native = self
        return native.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
