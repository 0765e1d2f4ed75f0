import BrokerSocket
import Synchronization
import Testing

@Suite("The reactor's thread")
struct ReactorTests {
    @Test("jobs of one thread keep their order, and run on the reactor's own thread")
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

    @Test("timers run in the order of their times, and canceled ones do not")
    func timers() async throws {
        let reactor = try Reactor()
        let seen = Mutex<[String]>([])
        let never = Mutex<ReactorTimer?>(nil)
        await withCheckedContinuation { done in
            reactor.execute {
                // In the order of their times, even if scheduling them takes long.
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
        "a timer scheduled later but due earlier runs in time, and so does one after a canceled one"
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

    @Test("a job for a reactor that has ended is dropped, and its sender is notified")
    func late() async throws {
        let reactor = try Reactor()
        #expect(reactor.execute {})
        await reactor.stop()
        #expect(!reactor.execute { Issue.record("done after the end") })
    }

    @Test("a reactor stops once, and notifies every waiting task")
    func stop() async throws {
        let reactor = try Reactor()
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { await reactor.stop() } }
        }
        await reactor.stop()
    }
}
