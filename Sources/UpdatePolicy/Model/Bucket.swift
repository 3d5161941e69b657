/// The bucket of an install in the rollout of one rule, from 0 to 9,999.
///
/// It is the first 4 bytes of SHA-256(key ":" install) as an unsigned big-endian number, modulo 10,000. So it is the
/// same at every check, independent for each rule, and anybody can compute it.
package struct Bucket: Sendable, Hashable {
    /// The bucket, 0 to 9,999: the install is in when this is less than the rollout in hundredths of a percent.
    package let number: Int

    package init(key: String, install: UTF8Text) {
        self = install.string.withBytes { Bucket(key: key, install: $0) }
    }

    /// The bucket of an install, given by its UTF-8 bytes, under a rule.
    init(key: String, install: UnsafeRawBufferPointer) {
        var hash = SHA256()
        key.withBytes { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: UInt8(ascii: ":")) { hash.update(bufferPointer: $0) }
        hash.update(bufferPointer: install)
        let word = hash.finalize().withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        number = Int(UInt32(bigEndian: word) % 10_000)
    }

    package func isIn(_ rollout: Percentage) -> Bool {
        number < rollout.hundredths
    }
}
