import Synchronization
import TestPolicies
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Later answers")
struct LaterAnswersTests {
    /// Answers whose thread the test is, and what was made of them.
    private final class Workshop: Sendable {
        let work = LongWork(isHeld: true)
        let made = Mutex<[String]>([])
        let delivered = Mutex<[Int]>([])
        let answers: LaterAnswers

        init(timeout: Duration = .seconds(600)) {
            answers = LaterAnswers(timeout: timeout, clock: { TestPolicy.noon }, run: work.run)
        }

        /// Whether there is room for what an asker asks.
        func ask(_ text: String, _ asker: Int, isOfGateway: Bool = false) -> Bool {
            let key = LaterAnswers.Key(serialNumber: nil, texts: [text])
            let answer = answers.answer(key, isOfGateway: isOfGateway, ifLate: .check(revision: nil)) { [self] _ in
                made.withLock { $0.append(text) }
                return .check(revision: 7)
            }
            return answer.begin { [self] _ in delivered.withLock { $0.append(asker) } }
        }
    }

    @Test("Those who ask the same share one making, and those who ask something else do not")
    func shares() {
        let workshop = Workshop()
        for asker in 1...4 { #expect(workshop.ask(asker == 4 ? "/b" : "/a", asker)) }
        #expect(workshop.made.withLock { $0 }.isEmpty)
        workshop.work.release()
        #expect(workshop.made.withLock { $0 } == ["/a", "/b"])
        #expect(workshop.delivered.withLock { $0 } == [1, 2, 3, 4])
    }

    @Test("What nobody can wait for any more is not made, and takes no place")
    func forgets() {
        let workshop = Workshop(timeout: .zero - .seconds(1))
        for number in 0..<LaterAnswers.maximumWaiting * 2 { #expect(workshop.ask("/\(number)", number)) }
        workshop.work.release()
        #expect(workshop.made.withLock { $0 }.isEmpty)
        #expect(workshop.delivered.withLock { $0 }.isEmpty)
    }

    @Test("No more answers wait than may, and more askers of one that waits do not count")
    func isBounded() {
        let workshop = Workshop()
        for number in 0..<LaterAnswers.maximumWaiting { #expect(workshop.ask("/\(number)", number)) }
        #expect(!workshop.ask("/more", -1))
        #expect(workshop.ask("/7", -2))
        workshop.work.release()
        #expect(workshop.made.withLock { $0.count } == LaterAnswers.maximumWaiting)
        #expect(workshop.ask("/more", -3))
    }

    @Test("The question of a gateway is answered before all documents, and has its place however many of them wait")
    func putsGatesFirst() {
        let workshop = Workshop()
        for number in 0..<LaterAnswers.maximumWaiting { _ = workshop.ask("/\(number)", number) }
        #expect(workshop.ask("gate", -1, isOfGateway: true))
        workshop.work.release()
        #expect(workshop.delivered.withLock { $0.first } == -1)
        #expect(workshop.delivered.withLock { $0.count } == LaterAnswers.maximumWaiting + 1)
    }
}
