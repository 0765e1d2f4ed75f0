import BrokerModel
import BrokerTestSupport
import Testing

@Suite("Promises")
struct PromiseTests {
    @Test("a canceled reader gets nothing at once, and the others get the value")
    func canceled() async {
        let promise = Promise<Int>()
        let (leaving, staying) = (
            Task.immediate { await promise.valueUnlessCanceled }, Task.immediate { await promise.value }
        )
        leaving.cancel()
        #expect(await leaving.value == nil)
        #expect(promise.fulfil(1) && !promise.fulfil(2))
        #expect(await staying.value == 1)
        #expect(await promise.valueUnlessCanceled == 1)
    }

    @Test("a reader that was canceled before it asks waits for nothing")
    func canceledBefore() async {
        let promise = Promise<Int>()
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return await promise.valueUnlessCanceled
        }
        task.cancel()
        gate.open()
        #expect(await task.value == nil)
        promise.fulfil(1)
        #expect(await promise.value == 1)
    }

    @Test("a broker that stops ends a wait, and one that begins later at once")
    func stop() async {
        enum End { case value, stopped, canceled }
        let stop = StopSignal()
        let first = Task.immediate { await stop.wait(for: Promise<End>(), stopped: .stopped, canceled: .canceled) }
        let second = Task.immediate { await stop.wait(for: Promise<End>(), stopped: .stopped, canceled: .canceled) }
        second.cancel()
        #expect(await second.value == .canceled)
        stop.begin()
        #expect(await first.value == .stopped)
        #expect(await stop.wait(for: Promise<End>(), stopped: .stopped, canceled: .canceled) == .stopped)
    }
}
