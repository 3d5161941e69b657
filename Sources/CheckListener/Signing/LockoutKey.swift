import CNIOBoringSSL
import UpdatePolicy

/// A key that signs lockouts: ECDSA with P-256 and SHA-256, by the BoringSSL that swift-nio-ssl is built with.
///
/// swift-crypto would bring a second copy of BoringSSL, as for `SHA256`. Several threads may sign with one key: the pointer
/// never changes, and BoringSSL only reads what it points to.
package final class LockoutKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// The public half: a SubjectPublicKeyInfo in DER, in base64, as apps pin it.
    package let publicKey: String
    /// The name of the key in signatures: the first 16 hexadecimal digits of the SHA-256 of the public half's DER.
    package let id: String

    /// How many bytes a signature has: the numbers r and s.
    private static let signatureSize = 64

    package static func random() -> LockoutKey? {
        guard let key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        defer { EC_KEY_free(key) }
        guard EC_KEY_generate_key(key) == 1, let pointer = EVP_PKEY_new() else { return nil }
        guard EVP_PKEY_set1_EC_KEY(pointer, key) == 1 else {
            EVP_PKEY_free(pointer)
            return nil
        }
        return LockoutKey(taking: pointer)
    }

    /// Reads a private key in PEM without a passphrase; nil where the bytes are none of P-256.
    package convenience init?(pem: [UInt8]) {
        let pointer = pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let input = BIO_new_mem_buf(bytes.baseAddress, bytes.count) else { return nil }
            defer { BIO_free(input) }
            // Nobody is asked for a passphrase.
            return PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let pointer else {
            ERR_clear_error()
            return nil
        }
        self.init(taking: pointer)
    }

    /// Takes over a key of BoringSSL; nil, and the key is freed, where it is none of P-256.
    private init?(taking pointer: OpaquePointer) {
        guard let key = EVP_PKEY_get0_EC_KEY(pointer),
            EC_GROUP_get_curve_name(EC_KEY_get0_group(key)) == NID_X9_62_prime256v1,
            let information = Self.publicKeyInformation(pointer)
        else {
            EVP_PKEY_free(pointer)
            ERR_clear_error()
            return nil
        }
        self.pointer = pointer
        publicKey = Self.base64(information)
        id = String(SHA256.hash(data: information).hexadecimal.prefix(16))
    }

    deinit { EVP_PKEY_free(pointer) }

    private static func publicKeyInformation(_ pointer: OpaquePointer) -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &start)
        guard count > 0, let start else { return nil }
        defer { OPENSSL_free(start) }
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }

    /// The private key in PEM, as PKCS #8 without a passphrase.
    package var pem: [UInt8]? {
        guard let output = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(output) }
        var start: UnsafePointer<UInt8>?
        var count = 0
        guard PEM_write_bio_PKCS8PrivateKey(output, pointer, nil, nil, 0, nil, nil) == 1,
            BIO_mem_contents(output, &start, &count) == 1
        else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// The signature of a text, in base64; nil where BoringSSL cannot make one.
    func signature(of text: String) -> String? {
        let digest = SHA256.hash(data: text.utf8)
        var size = 0
        let signature = [UInt8](unsafeUninitializedCapacity: Self.signatureSize) { bytes, count in
            let isMade = digest.withUnsafeBytes { digest in
                ECDSA_sign_p1363(
                    digest.baseAddress?.assumingMemoryBound(to: UInt8.self), digest.count, bytes.baseAddress, &size,
                    Self.signatureSize, EVP_PKEY_get0_EC_KEY(pointer)
                )
            }
            count = isMade == 1 ? size : 0
        }
        guard signature.count == Self.signatureSize else {
            ERR_clear_error()
            return nil
        }
        return Self.base64(signature)
    }

    static func base64(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        // BoringSSL adds a zero.
        let capacity = (bytes.count + 2) / 3 * 4 + 1
        return String(unsafeUninitializedCapacity: capacity) { text in
            Int(EVP_EncodeBlock(text.baseAddress, bytes, bytes.count))
        }
    }
}

/// The key that signs lockouts now; nil: there is none that can be used.
package typealias CurrentLockoutKey = Current<LockoutKey?>
