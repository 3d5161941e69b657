// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Synchronization
import UpdatePolicy

/// The signatures of the lockouts that a listener sends.
///
/// It signs an answer once a day, and keeps the signature within a bound of memory. Its event loops share them, so an answer
/// has one signature; they sign outside the lock.
///
/// Sources: [RFC 9421](https://www.rfc-editor.org/rfc/rfc9421), [RFC 9530](https://www.rfc-editor.org/rfc/rfc9530).
final class LockoutSignatures: Sendable {
    /// A signed answer, and what its head says.
    struct Signed: Sendable {
        /// In the order in which they are sent.
        let fields: [(name: String, value: String)]
        /// The value of `Signature-Input`, which differs where another day or another key signs the same answer.
        var input: String { fields[2].value }
    }

    private struct Answer: Hashable {
        let digest: SIMD4<UInt64>
        let bundle: String
    }

    /// The signatures by a key on a day.
    private struct State {
        var key: LockoutKey?
        var created = Int64.min
        var kept: [Answer: Signed] = [:]
    }

    /// The most signatures that are kept; each takes about 700 bytes.
    static let maximumCount = 1_024
    /// How long a signature is valid: its day, and a week in which an app may keep the answer.
    private static let lifetime: Int64 = 8 * day
    private static let day: Int64 = 86_400

    private let current: CurrentLockoutKey
    private let state = Mutex(State())

    init(_ current: CurrentLockoutKey) {
        self.current = current
    }

    /// Signs an answer, or finds its signature of today.
    ///
    /// - Returns: nil where there is no key, or where no header field can name the bundle.
    func signature(of body: UnsafeRawBufferPointer, bundle: String, at now: Timestamp) -> Signed? {
        guard let key = current.value, Self.canBeNamed(bundle) else { return nil }
        let created = HTTPDate.second(of: now).flooredQuotient(by: Self.day) * Self.day
        let digest = SHA256.hash(data: body)
        let answer = Answer(digest: digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }, bundle: bundle)
        let known = state.withLock { state in
            if key !== state.key || created != state.created { state = State(key: key, created: created) }
            return state.kept[answer]
        }
        if let known { return known }
        guard let signed = Self.sign(digest, bundle, key, created) else { return nil }
        return state.withLock { state in
            guard key === state.key, created == state.created else { return signed }
            // Another event loop may have signed it meanwhile.
            if let first = state.kept[answer] { return first }
            if state.kept.count >= Self.maximumCount { state.kept = [:] }
            state.kept[answer] = signed
            return signed
        }
    }

    private static func sign(_ digest: SHA256.Digest, _ bundle: String, _ key: LockoutKey, _ created: Int64) -> Signed?
    {
        let content = "sha-256=:\(digest.withUnsafeBytes { LockoutKey.base64($0) }):"
        let parameters =
            "(\"content-digest\" \"policy-bundle\");created=\(created);expires=\(created + lifetime)"
            + ";keyid=\"\(key.id)\";alg=\"ecdsa-p256-sha256\""
        let base =
            "\"content-digest\": \(content)\n\"policy-bundle\": \(bundle)\n\"@signature-params\": \(parameters)"
        guard let signature = key.signature(of: base) else { return nil }
        return Signed(fields: [
            (name: "Content-Digest", value: content), (name: "Policy-Bundle", value: bundle),
            (name: "Signature-Input", value: "lockout=\(parameters)"),
            (name: "Signature", value: "lockout=:\(signature):"),
        ])
    }

    /// Whether all of a bundle may stand in a header field.
    private static func canBeNamed(_ bundle: String) -> Bool {
        bundle.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
