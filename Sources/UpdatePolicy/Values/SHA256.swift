import CNIOBoringSSL

/// The hash function SHA-256 ([FIPS 180-4](https://csrc.nist.gov/pubs/fips/180-4/upd1/final)), computed by the BoringSSL
/// that swift-nio-ssl is built with.
///
/// swift-crypto would bring a second copy of BoringSSL, which alone takes a fifth of the first build. The module is no
/// product of swift-nio-ssl, so the manifest names an exact version.
package struct SHA256 {
    private var context = SHA256_CTX()

    package init() {
        _ = SHA256_Init(&context)
    }

    package mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
        _ = SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    package mutating func update(data: some Collection<UInt8>) {
        let isContiguous: Void? = data.withContiguousStorageIfAvailable {
            update(bufferPointer: UnsafeRawBufferPointer($0))
        }
        if isContiguous == nil { update(data: Array(data)) }
    }

    package mutating func finalize() -> Digest {
        var digest = Digest()
        withUnsafeMutableBytes(of: &digest.words) { bytes in
            _ = SHA256_Final(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
        }
        return digest
    }

    package static func hash(data: some Collection<UInt8>) -> Digest {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
    }

    package struct Digest: Sendable {
        fileprivate var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try Swift.withUnsafeBytes(of: words, body)
        }

        /// The bytes in hexadecimal digits, in lower case.
        package var hexadecimal: String {
            withUnsafeBytes { bytes in bytes.map { String($0, padded: 2, radix: 16) }.joined() }
        }
    }
}
