import Testing

@testable import CheckListener

@Suite("Host header")
struct HostFieldTests {
    @Test("A host may be a name or an address, with a port, and nothing else")
    func areValid() {
        let valid = [
            "", "x", "example.com", "example.com:80", "my-app_1.example.com:65535", "[2001:db8::1]:8080",
            "caf%C3%A9.example", "example.com:", ":80", "192.0.2.1:0", "[::1]", "[::1]:65535",
            "[v1.a:b]", "a~b!$&'()*+,;=", "%41", "xn--caf-dma.example",
        ]
        let invalid = [
            " ", "a b", "a/b", "a?b", "a#b", "a@b", "a\\b", "a\"b", "<a>", "a:b", "a:-1", "a:99999", "a:65536",
            "a:080000", "a:80:80", "::1", "[::1", "[]", "[::1]x", "[::1]80", "[a b]", "%", "%4", "%4x", "caf\u{e9}",
            "a\t",
        ]
        for value in valid + invalid {
            let isValid = Array(value.utf8).withUnsafeBytes { HostField.isValid($0) }
            #expect(isValid == valid.contains(value), "\(value)")
        }
    }
}
