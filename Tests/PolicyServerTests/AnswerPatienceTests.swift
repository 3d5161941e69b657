// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Testing

@testable import PolicyServer

@Suite("The patience with a database's answers")
struct AnswerPatienceTests {
    @Test("is four times the last answer, within its bounds")
    func followsAnswers() {
        var patience = AnswerPatience()
        #expect(patience.limit == .seconds(1))
        patience.answered(after: .milliseconds(1))
        #expect(patience.limit == .seconds(1))
        patience.answered(after: .milliseconds(600))
        #expect(patience.limit == .milliseconds(2_400))
        patience.answered(after: .seconds(5))
        #expect(patience.limit == .seconds(10))
        patience.answered(after: .milliseconds(1))
        #expect(patience.limit == .seconds(1))
    }

    @Test("doubles with each answer that does not come, so that any database within the bound is waited for")
    func doubles() {
        var patience = AnswerPatience()
        for expected in [2, 4, 8, 10, 10] {
            patience.ranOut()
            #expect(patience.limit == .seconds(expected))
        }
    }
}
