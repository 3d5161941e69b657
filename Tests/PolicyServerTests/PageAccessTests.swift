import CheckListener
import Foundation
import NIOCore
import Testing

@testable import PolicyServer

@Suite("Page access")
struct PageAccessTests {
    private let access = PageAccess(password: "correct horse battery", host: "10.0.0.5")
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func refusal(
        _ password: String?,
        from client: String = "192.0.2.1",
        after seconds: Int64 = 0
    ) -> PageAccess.Refusal? {
        access.refusal(
            authorization: password.map { "Basic " + Data("anybody:\($0)".utf8).base64EncodedString() },
            from: IPAddress(client), now: start + .seconds(seconds)
        )
    }

    @Test("After ten wrong passwords an address is refused whatever it gives, until ten seconds have passed")
    func limitsWrongPasswords() {
        for _ in 1...10 { #expect(refusal("wrong") == .unauthorized) }
        #expect(refusal("wrong") == .tooManyAttempts(seconds: 10))
        #expect(refusal("correct horse battery") == .tooManyAttempts(seconds: 10))
        #expect(refusal("correct horse battery", after: 9) == .tooManyAttempts(seconds: 1))
        #expect(refusal("correct horse battery", after: 10) == nil)
        #expect(refusal("wrong", after: 10) == .unauthorized)
        #expect(refusal("correct horse battery", after: 10) == .tooManyAttempts(seconds: 10))
        for _ in 1...10 { #expect(refusal("wrong", after: 120) == .unauthorized) }
        #expect(refusal("wrong", after: 120) == .tooManyAttempts(seconds: 10))
    }

    @Test("Wrong passwords of one address are nothing to another; an IPv6 network is one address")
    func limitsEachAddress() {
        for index in 1...20 { _ = refusal("wrong", from: "2001:db8::\(index)") }
        #expect(refusal("correct horse battery", from: "2001:db8::abcd") == .tooManyAttempts(seconds: 10))
        #expect(refusal("correct horse battery", from: "2001:db8:0:1::1") == nil)
        #expect(refusal("correct horse battery") == nil)
    }

    @Test("A right password and none at all are no attempts")
    func countsNothingElse() {
        for _ in 1...100 {
            #expect(refusal("correct horse battery") == nil)
            #expect(refusal(nil) == .unauthorized)
        }
        #expect(refusal("wrong") == .unauthorized)
    }

    @Test("A password is made for the example only where the pages would be refused without one")
    func isMadeWhereNeeded() {
        for (host, set, made) in [
            ("127.0.0.1", nil, nil), ("0.0.0.0", nil, "made for this"), ("0.0.0.0", "set by a person", nil),
        ] as [(String, String?, String?)] {
            var configuration = ServerConfiguration()
            configuration.managementAddress.host = host
            configuration.pagesPassword = set
            #expect(configuration.makePagesPassword { "made for this" } == made)
            #expect(configuration.pagesPassword == set ?? made)
        }
    }
}
