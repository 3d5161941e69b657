import Synchronization
import UpdatePolicy

/// The signatures of the lockouts that a listener sends.
///
/// It signs an answer once a day, and keeps the signature within a bound of memory. Its event loops share them, so an answer
/// has one signature; they sign outside the lock.
///
/// Anybody can invent bundles, and a lockout for every app is sent to each. So signatures for bundles that no policy lists
/// are kept apart from the others, and only some are made in a second: beyond that such an answer has none.
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
        /// By whether the bundle is listed.
        var kept: [Bool: Kept] = [:]
        /// The second in which the last was made for a bundle that is not listed, and how many were.
        var second = Int64.min
        var unlistedCount = 0
    }

    /// The signatures that were used last, and perhaps as many that were used before.
    private struct Kept {
        private var last: [Answer: Signed] = [:]
        private var before: [Answer: Signed] = [:]

        mutating func find(_ answer: Answer) -> Signed? {
            if let signed = last[answer] { return signed }
            guard let signed = before[answer] else { return nil }
            insert(signed, for: answer)
            return signed
        }

        mutating func insert(_ signed: Signed, for answer: Answer) {
            if last.count >= LockoutSignatures.maximumCount / 2 { (before, last) = (last, [:]) }
            last[answer] = signed
        }
    }

    /// The most signatures that are kept for listed bundles, and the most for others; each takes about 700 bytes.
    static let maximumCount = 1_024
    /// The most signatures that are made in a second for bundles that are not listed.
    static let unlistedPerSecond = 16
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
    /// - Parameter isListed: Whether the policy has the app.
    /// - Returns: nil where there is no key, where no header field can name the bundle, or where too many were made for
    ///   bundles that are not listed.
    func signature(of body: UnsafeRawBufferPointer, bundle: String, isListed: Bool, at now: Timestamp) -> Signed? {
        guard let key = current.value, Self.canBeNamed(bundle) else { return nil }
        let second = now.second
        let created = second.flooredQuotient(by: Self.day) * Self.day
        let digest = SHA256.hash(data: body)
        let answer = Answer(digest: digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }, bundle: bundle)
        let (known, isSpent) = state.withLock { state -> (Signed?, Bool) in
            if key !== state.key || created != state.created { state = State(key: key, created: created) }
            if let known = state.kept[isListed, default: Kept()].find(answer) { return (known, false) }
            if isListed { return (nil, false) }
            if second != state.second { (state.second, state.unlistedCount) = (second, 0) }
            state.unlistedCount += 1
            return (nil, state.unlistedCount > Self.unlistedPerSecond)
        }
        if let known { return known }
        guard !isSpent, let signed = Self.sign(digest, bundle, key, created) else { return nil }
        return state.withLock { state in
            guard key === state.key, created == state.created else { return signed }
            // Another event loop may have signed it meanwhile.
            if let first = state.kept[isListed, default: Kept()].find(answer) { return first }
            state.kept[isListed, default: Kept()].insert(signed, for: answer)
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
