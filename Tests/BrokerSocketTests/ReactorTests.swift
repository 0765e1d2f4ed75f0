import BrokerSocket
import Synchronization
import Testing

@Suite("The thread that waits for sockets")
struct ReactorTests {
    @Test("jobs of one thread keep their order, and come to the reactor's own thread")
    func order() async throws {
        let reactor = try Reactor()
        let seen = Mutex<[Int]>([])
        for number in 0..<1000 {
            reactor.execute { seen.withLock { $0.append(reactor.isCurrent ? number : -1) } }
        }
        let jobs = await reactor.perform { seen.withLock { $0 } }
        #expect(jobs == Array(0..<1000))
        #expect(!reactor.isCurrent)
        await reactor.stop()
    }

    @Test("what is due is done in the order of its time; what was cancelled is not")
    func timers() async throws {
        let reactor = try Reactor()
        let seen = Mutex<[String]>([])
        await withCheckedContinuation { done in
            reactor.execute {
                let note = { (text: String) in seen.withLock { $0.append(text) } }
                reactor.schedule(after: .milliseconds(30)) {
                    note("last")
                    done.resume()
                }
                let never = reactor.schedule(after: .milliseconds(2)) { note("never") }
                reactor.schedule(after: .milliseconds(1)) {
                    note("first")
                    reactor.cancel(never)
                }
            }
        }
        #expect(seen.withLock { $0 } == ["first", "last"])
        await reactor.stop()
    }

    @Test("it stops once, and says so to everybody who waits for it")
    func stop() async throws {
        let reactor = try Reactor()
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { await reactor.stop() } }
        }
        await reactor.stop()
    }
}
