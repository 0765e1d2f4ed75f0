import BrokerOAuth
import Dispatch
import Testing

@Suite("Where large answers are read")
struct ParserThreadTests {
    /// More than there are threads for tasks: if one of these stood in the way of a task, none would ever be done.
    @Test("large answers that take long hold up no task, and each of them is read")
    func tasksGoOn() async {
        let thread = ParserThread()
        let gate = DispatchSemaphore(value: 0)
        let count = 200
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { await thread.read(bytes: 1 << 20) { gate.wait() } }
            }
            for _ in 0..<count {
                group.addTask { gate.signal() }
            }
        }
    }

    @Test("a small answer does not stand behind a large one")
    func smallAtOnce() async {
        let thread = ParserThread()
        let gate = DispatchSemaphore(value: 0)
        async let large = thread.read(bytes: 1 << 20) { gate.wait() }
        #expect(await thread.read(bytes: ParserThread.largestAtOnce) { "small" } == "small")
        gate.signal()
        await large
    }
}
