import BrokerModel
import BrokerTestSupport
import Foundation
import Synchronization
import Testing

@Suite("The gate of work that needs keys")
struct LockGateTests {
    private let clock = ManualClock()
    private let gate: LockGate

    init() {
        gate = LockGate(clock: clock)
        gate.open()
    }

    @Test("nobody is in when a shut returns, nor let in before it is opened, whatever work leaves behind")
    func shut() async {
        let crowd = Crowd(gate)
        while !crowd.isOver {
            async let other: Void = gate.shut()
            await gate.shut()
            await other
            crowd.isShut.store(true, ordering: .sequentiallyConsistent)
            #expect(crowd.inside.load(ordering: .sequentiallyConsistent) == 0 && !gate.isOpen && !gate.enter())
            crowd.isShut.store(false, ordering: .sequentiallyConsistent)
            gate.open()
        }
        #expect(crowd.surprises.load(ordering: .relaxed) == 0)
        #expect(gate.isIdle(at: clock.uptime, for: .zero))
    }

    @Test("every shut ends, also where it is opened and shut again meanwhile")
    func reopening() async {
        gate.limitIdleTime(to: .seconds(10))
        let crowd = Crowd(gate, changesLimit: false)
        await withTaskGroup(of: Void.self) { [gate] group in
            for _ in 1...3 {
                group.addTask {
                    while !crowd.isOver {
                        await gate.shut()
                        gate.open()
                    }
                }
            }
        }
        await gate.shut()
        #expect(crowd.inside.load(ordering: .relaxed) == 0 && !gate.enter())
    }

    @Test("who finds it shut is no use of it")
    func refused() async {
        await gate.shut()
        let uses = gate.uses
        #expect(!gate.enter() && gate.uses == uses)
    }

    @Test("idle time counts from when it begins to count, not from a use before")
    func limitedLater() {
        gate.limitIdleTime(to: nil)
        clock.advance(bySeconds: 1_000)
        #expect(gate.enter())
        gate.leave()
        gate.limitIdleTime(to: .seconds(10))
        clock.advance(bySeconds: 9)
        #expect(gate.enter())
        gate.leave()
        // Another limit is no use.
        clock.advance(bySeconds: 9)
        gate.limitIdleTime(to: .seconds(5))
        #expect(!gate.enter() && gate.isIdle(at: clock.uptime, for: .seconds(5)))
    }
}

/// Threads that come to a gate so many times, more threads than there are cores.
private final class Crowd: Sendable {
    let inside = Atomic<Int>(0)
    /// Whether a shut has returned, and nobody opened since.
    let isShut = Atomic<Bool>(false)
    /// How often somebody was in who should not be.
    let surprises = Atomic<Int>(0)
    private let left = Atomic<Int>(0)

    init(_ gate: LockGate, changesLimit: Bool = true) {
        for _ in 1...2 {
            begin { self.visit(gate) }
        }
        begin {
            // What is in leaves something behind.
            guard gate.enter() else { return }
            gate.join()
            self.note(1)
            gate.leave()
            self.note(-1)
            gate.leave()
        }
        guard changesLimit else { return }
        begin {
            gate.limitIdleTime(to: .seconds(10))
            self.visit(gate)
            _ = gate.isIdle(at: .zero, for: .seconds(10))
            gate.limitIdleTime(to: nil)
        }
    }

    /// All have come, and gone again.
    var isOver: Bool { left.load(ordering: .acquiring) == 0 }

    private func visit(_ gate: LockGate) {
        guard gate.enter() else { return }
        note(1)
        note(-1)
        gate.leave()
    }

    private func note(_ change: Int) {
        inside.add(change, ordering: .sequentiallyConsistent)
        if isShut.load(ordering: .sequentiallyConsistent) { surprises.add(1, ordering: .relaxed) }
    }

    private func begin(_ work: @escaping @Sendable () -> Void) {
        left.add(1, ordering: .relaxed)
        Thread.detachNewThread { [self] in
            for _ in 1...20_000 { work() }
            left.subtract(1, ordering: .releasing)
        }
    }
}
