import NIOCore
import NIOEmbedded
import Synchronization
import TestPolicies
import Testing
import UpdatePolicy

@testable import CheckListener

/// Whether signatures are right is for the implementation of somebody else to say, in `script/test-web api` and in the client
/// libraries.
@Suite("Lockout signatures")
struct LockoutSignatureTests {
    private static let fields = ["content-digest", "policy-bundle", "signature-input", "signature"]
    private static let noon: Int64 = 1_772_366_400

    /// One lockout for an app and a message for another, and a lockout for every app.
    private static func policy() throws -> CompiledPolicy {
        try TestPolicy.policy([
            TestPolicy.rule("locked") { ($0.lockout, $0.lockoutWithoutUpdate, $0.versions) = (true, true, "<1.2") },
            TestPolicy.rule("everywhere") {
                ($0.bundle, $0.lockout, $0.lockoutWithoutUpdate, $0.versions) = (nil, true, true, "9")
            },
            TestPolicy.rule("message") { $0.versions = "2" },
        ])
    }

    /// A listener with a key, and the clock that it goes by.
    private final class Signing: Sendable {
        let key: CurrentLockoutKey
        let now = Mutex(LockoutSignatureTests.noon)

        init(_ key: LockoutKey?) { self.key = CurrentLockoutKey(key) }

        func listener() throws -> EmbeddedListener {
            try EmbeddedListener(
                CurrentPolicy(try LockoutSignatureTests.policy()), lockoutKey: key,
                clock: { Timestamp(microsecondsSince1970: self.now.withLock { $0 } * 1_000_000) }
            )
        }
    }

    private static func post(_ bundle: String, _ version: String, to path: String = "/v1/check") -> String {
        ListenerFixture.post(#"{"bundle":"\#(bundle)","version":"\#(version)","platform":"ios"}"#, to: path)
    }

    private static func get(_ version: String, _ fields: String = "") -> String {
        "GET /v1/check?bundle=\(TestPolicy.bundle)&version=\(version)&platform=ios HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    }

    private static func isSigned(_ response: HTTPResponse) -> Bool {
        let present = fields.filter { response.headers[$0] != nil }
        #expect(present.isEmpty || present == fields)
        return !present.isEmpty
    }

    @Test("An answer is signed if it locks out, with four fields, and no other is")
    func signsLockouts() throws {
        let key = try #require(LockoutKey.random())
        let listener = try Signing(key).listener()
        let signed = try listener.ask(Self.post(TestPolicy.bundle, "1.1"))
        #expect(Self.isSigned(signed))
        #expect(signed.headers["policy-bundle"] == TestPolicy.bundle)
        let day = Self.noon - 43_200
        #expect(
            signed.headers["signature-input"]
                == #"lockout=("content-digest" "policy-bundle");created=\#(day);expires=\#(day + 691_200);keyid="\#(key.id)";"#
                + #"alg="ecdsa-p256-sha256""#
        )
        #expect(signed.headers["signature"]?.wholeMatch(of: #/lockout=:[A-Za-z0-9+/]{86}==:/#) != nil)
        #expect(signed.headers["cache-control"] == "no-store" && signed.headers["etag"] == nil)
        #expect(Self.isSigned(try listener.ask(Self.get("1.1"))))
        for request in [
            Self.post(TestPolicy.bundle, "2"), Self.post(TestPolicy.bundle, "3"), Self.get("2"),
            Self.post(TestPolicy.bundle, "1.1", to: "/tables/vLoadMessages"),
            "GET /v1/gate?bundle=\(TestPolicy.bundle)&version=1.1&platform=ios HTTP/1.1\r\nHost: x\r\n\r\n",
        ] {
            #expect(!Self.isSigned(try listener.ask(request)), "\(request)")
        }
    }

    @Test("A signature names the bundle as the policy spells it, else in lower case, and none that is no header value")
    func namesBundles() throws {
        let listener = try Signing(LockoutKey.random()).listener()
        func bundle(_ bundle: String, _ version: String) throws -> String? {
            let response = try listener.ask(Self.post(bundle, version))
            #expect(response.status == 200 && response.body.contains(#""lockout":true"#))
            return Self.isSigned(response) ? response.headers["policy-bundle"] : nil
        }
        #expect(try bundle(TestPolicy.bundle.uppercased(), "1.1") == TestPolicy.bundle)
        #expect(try bundle("com.Example.NOBODY", "9") == "com.example.nobody")
        for strange in [#"a\r\nX: y"#, "a b", "b\u{fc}cher", #"a\u007f"#] {
            #expect(try bundle(strange, "9") == nil, "\(strange)")
        }
    }

    @Test("An answer is signed once a day and key, and a cache gets it anew with the next signature")
    func keepsSignatures() throws {
        let signing = Signing(LockoutKey.random())
        let listener = try signing.listener()
        func answer() throws -> [String?] {
            let response = try listener.ask(Self.get("1.1"))
            return [response.headers["signature"], response.headers["etag"]]
        }
        let first = try answer()
        #expect(try answer() == first)
        signing.now.withLock { $0 += 43_199 }
        #expect(try answer() == first)
        let known = "If-None-Match: \(first[1] ?? "")\r\n"
        #expect(try listener.ask(Self.get("1.1", known)).status == 304)
        signing.now.withLock { $0 += 1 }
        let second = try answer()
        #expect(second[0] != first[0] && second[1] != first[1])
        #expect(try listener.ask(Self.get("1.1", known)).status == 200)
        let next = LockoutKey.random()
        signing.key.replace(with: next)
        let third = try answer()
        #expect(third[0] != second[0] && third[1] != second[1])
        #expect(try answer() == third)
    }

    @Test("Without a key that can be used a lockout is answered without a signature")
    func answersWithoutAKey() throws {
        for listener in [try Signing(nil).listener(), try EmbeddedListener(CurrentPolicy(try Self.policy()))] {
            let response = try listener.ask(Self.post(TestPolicy.bundle, "1.1"))
            #expect(response.body.contains(#""lockout":true"#) && !Self.isSigned(response))
        }
    }

    /// Signs answers, each another by its number.
    private struct Signer {
        let signatures = LockoutSignatures(CurrentLockoutKey(LockoutKey.random()))
        var second = LockoutSignatureTests.noon

        func sign(_ number: Int, _ bundle: String = "a", isListed: Bool = true) -> String? {
            let now = Timestamp(microsecondsSince1970: second * 1_000_000)
            let signed = Array("\(number)".utf8).withUnsafeBytes {
                signatures.signature(of: $0, bundle: bundle, isListed: isListed, at: now)
            }
            return signed?.fields[3].value
        }
    }

    @Test("Signatures are kept within a bound, whatever is asked, and longer if they are used")
    func isBounded() throws {
        let signer = Signer()
        let first = (0..<LockoutSignatures.maximumCount).map { signer.sign($0) }
        #expect(first.allSatisfy { $0 != nil } && Set(first).count == first.count)
        #expect(signer.sign(0) == first[0])
        for number in 0..<(2 * LockoutSignatures.maximumCount) {
            #expect(signer.sign(LockoutSignatures.maximumCount + number) != nil)
            if number % 100 == 0 { #expect(signer.sign(0) == first[0]) }
        }
        #expect(signer.sign(1) != first[1])
    }

    @Test("Invented bundles take no signature of a listed app, and only some are signed in a second")
    func isNotFlooded() throws {
        var signer = Signer()
        let most = LockoutSignatures.unlistedPerSecond
        let listed = signer.sign(1)
        let known = signer.sign(0, "known", isListed: false)
        #expect(listed != nil && known != nil)
        var signed = 1
        for number in 0..<(3 * LockoutSignatures.maximumCount) {
            if signer.sign(0, "invented\(number)", isListed: false) != nil { signed += 1 }
        }
        #expect(signed == most)
        #expect(signer.sign(0, "known", isListed: false) == known)
        #expect(signer.sign(1) == listed && signer.sign(2) != nil)
        // The same name with and without a row is two apps, of which one may be signed at once.
        #expect(signer.sign(1, "known") != nil)
        signer.second += 1
        #expect(signer.sign(0, "invented\(most)", isListed: false) != nil)
        #expect(signer.sign(0, "known", isListed: false) == known)
    }

    @Test("A key is written and read again as the same, and what is no key of P-256 is none")
    func readsKeys() throws {
        let key = try #require(LockoutKey.random())
        let pem = try #require(key.pem)
        let again = try #require(LockoutKey(pem: pem))
        #expect(again.id == key.id && again.publicKey == key.publicKey && again.pem == pem)
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(key.publicKey.hasPrefix("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE") && key.publicKey.utf8.count == 124)
        #expect(key.id.wholeMatch(of: #/[0-9a-f]{16}/#) != nil)
        #expect(LockoutKey.random()?.id != key.id)
        let secp384 = """
            -----BEGIN PRIVATE KEY-----
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBQTc0k9BCmRtBFm3Zl
            -----END PRIVATE KEY-----
            """
        for wrong in ["", "nonsense", secp384, String(decoding: pem.dropLast(60), as: UTF8.self)] {
            #expect(LockoutKey(pem: Array(wrong.utf8)) == nil)
        }
    }

    @Test("The bytes of base64 are those of RFC 4648")
    func encodesBase64() {
        for (text, encoded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(LockoutKey.base64(text.utf8) == encoded)
        }
    }
}
