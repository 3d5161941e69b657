import NIOHTTP1
import Synchronization
import TestPolicies
import Testing
import UpdatePolicy

@testable import CheckListener

@Suite("Document maker")
struct DocumentMakerTests {
    /// A maker whose thread the test is, and what it has made.
    private final class Workshop: Sendable {
        let work = LongWork(isHeld: true)
        let made = Mutex(0)
        let delivered = Mutex<[Int]>([])

        func maker() -> DocumentMaker {
            DocumentMaker(
                clock: { [self] in
                    made.withLock { $0 += 1 }
                    return TestPolicy.noon
                },
                run: work.run
            )
        }

        func ask(_ maker: DocumentMaker, _ target: String, _ asker: Int) -> DocumentMaker.Ticket? {
            let request = FeedRequest(.lookup(country: nil), target: target, query: "", HTTPHeaders())
            return maker.ask(DocumentQuestion(request, by: nil)) { [self] _, _ in
                delivered.withLock { $0.append(asker) }
            }
        }
    }

    @Test("Those who ask the same share one making, and those who ask something else do not")
    func shares() {
        let workshop = Workshop()
        let maker = workshop.maker()
        for asker in 1...4 { #expect(workshop.ask(maker, asker == 4 ? "/b" : "/a", asker) != nil) }
        #expect(workshop.made.withLock { $0 } == 0)
        workshop.work.release()
        #expect(workshop.made.withLock { $0 } == 2)
        #expect(workshop.delivered.withLock { $0.sorted() } == [1, 2, 3, 4])
        #expect(workshop.delivered.withLock { $0.last } == 4)
    }

    @Test("Who goes away takes nothing from the others, and what nobody waits for is not made")
    func withdraws() throws {
        let workshop = Workshop()
        let maker = workshop.maker()
        let first = try #require(workshop.ask(maker, "/a", 1))
        _ = workshop.ask(maker, "/a", 2)
        let alone = try #require(workshop.ask(maker, "/b", 3))
        maker.withdraw(first)
        maker.withdraw(alone)
        workshop.work.release()
        #expect(workshop.made.withLock { $0 } == 1)
        #expect(workshop.delivered.withLock { $0 } == [2])
        _ = workshop.ask(maker, "/b", 4)
        workshop.work.release()
        #expect(workshop.delivered.withLock { $0 } == [2, 4])
    }

    @Test("No more questions wait than may, and more askers of one that waits do not count")
    func isBounded() {
        let workshop = Workshop()
        let maker = workshop.maker()
        for number in 0..<DocumentMaker.maximumWaiting { #expect(workshop.ask(maker, "/\(number)", number) != nil) }
        #expect(workshop.ask(maker, "/more", -1) == nil)
        #expect(workshop.ask(maker, "/7", -2) != nil)
        workshop.work.release()
        #expect(workshop.made.withLock { $0 } == DocumentMaker.maximumWaiting)
        #expect(workshop.ask(maker, "/more", -3) != nil)
    }

    @Test("The question of a gateway is answered before all documents, and has its place however many of them wait")
    func putsGatesFirst() throws {
        let workshop = Workshop()
        let maker = workshop.maker()
        for number in 0..<DocumentMaker.maximumWaiting { _ = workshop.ask(maker, "/\(number)", number) }
        let gate = DocumentQuestion(
            GateRequest("bundle=com.example.doto", HTTPHeaders()), Client(), refusal: .forbidden,
            by: try TestPolicy.policy([])
        )
        let ticket = maker.ask(gate) { _, _ in workshop.delivered.withLock { $0.append(-1) } }
        #expect(ticket != nil)
        workshop.work.release()
        #expect(workshop.delivered.withLock { $0.first } == -1)
        #expect(workshop.delivered.withLock { $0.count } == DocumentMaker.maximumWaiting + 1)
    }
}
