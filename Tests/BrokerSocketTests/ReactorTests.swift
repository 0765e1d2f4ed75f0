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
        let never = Mutex<ReactorTimer?>(nil)
        await withCheckedContinuation { done in
            reactor.execute {
                // In the order of their times, however long it takes to say so.
                reactor.schedule(after: .milliseconds(1)) {
                    seen.withLock { $0.append("first") }
                    reactor.cancel(never.withLock { $0 })
                }
                let timer = reactor.schedule(after: .milliseconds(2)) { seen.withLock { $0.append("never") } }
                never.withLock { $0 = timer }
                reactor.schedule(after: .milliseconds(30)) {
                    seen.withLock { $0.append("last") }
                    done.resume()
                }
            }
        }
        #expect(seen.withLock { $0 } == ["first", "last"])
        await reactor.stop()
    }

    @Test(
        "what is scheduled later and due earlier is done when it is due, and so is what comes after something cancelled"
    )
    func alarm() async throws {
        let reactor = try Reactor()
        let seen = Mutex<[String]>([])
        for round in 1...3 {
            await withCheckedContinuation { done in
                reactor.execute {
                    let never = reactor.schedule(after: .milliseconds(5)) { seen.withLock { $0.append("never") } }
                    reactor.schedule(after: .milliseconds(500)) {
                        seen.withLock { $0.append("\(round) second") }
                        done.resume()
                    }
                    reactor.schedule(after: .zero) { seen.withLock { $0.append("\(round) first") } }
                    reactor.schedule(after: .seconds(Int64.max)) { seen.withLock { $0.append("after all") } }
                    reactor.cancel(never)
                }
            }
        }
        #expect(seen.withLock { $0 } == (1...3).flatMap { ["\($0) first", "\($0) second"] })
        await reactor.stop()
    }

    @Test("a job for one that has ended is let go, and whoever gives it is told")
    func late() async throws {
        let reactor = try Reactor()
        #expect(reactor.execute {})
        await reactor.stop()
        #expect(!reactor.execute { Issue.record("done after the end") })
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
