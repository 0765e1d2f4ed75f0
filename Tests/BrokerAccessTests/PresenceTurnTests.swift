import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

/// Several people, of whom one does not answer.
private final class Questions: PresenceAuthority {
    private let silent: UInt32
    private let answer = Promise<PresenceAnswer>()
    private let asked = Mutex<[UInt32]>([])

    init(silent: UInt32) { self.silent = silent }

    var uids: [UInt32] { asked.withLock { $0 } }

    func end(_ answer: PresenceAnswer = .notShown) { self.answer.fulfil(answer) }

    func ask(_ question: PresenceQuestion, process: Int32, uid: UInt32) async -> PresenceAnswer {
        asked.withLock { $0.append(uid) }
        return uid == silent ? await answer.value : .shown
    }
}

@Suite("Queue of presence questions")
struct PresenceTurnTests {
    @Test("a person who does not answer gets no other question, and delays no other user")
    func users() async throws {
        let people = Questions(silent: 1000)
        let bed = try await AccessBed(presence: people) { $0.audience = .everybody(overflow: nil) }
        let (silent, other) = (try bed.caller(), try bed.caller { $0.uid = 1001 })
        let waiting = (0..<3).map { _ in
            Task { try? await bed.policy.requirePresence(PresenceQuestion("grants.approve"), of: silent) }
        }
        try await eventually("the first is asked") { people.uids == [1000] }
        try await bed.policy.requirePresence(PresenceQuestion("grants.approve"), of: other)
        #expect(people.uids == [1000, 1001])
        people.end()
        for task in waiting { await task.value }
        #expect(people.uids == [1000, 1001, 1000, 1000])
    }

    @Test("a broker that stops answers the waiting callers, and asks nobody any more")
    func stopping() async throws {
        let people = Questions(silent: 1000)
        let bed = try await AccessBed(presence: people) { $0.audience = .everybody(overflow: nil) }
        let caller = try bed.caller()
        let waiting = (0..<3).map { _ in
            Task {
                await #expect(throws: BrokerError.self) {
                    try await bed.policy.requirePresence(PresenceQuestion("grants.approve"), of: caller)
                }?.reason
            }
        }
        try await eventually("the first is asked") { people.uids == [1000] }
        bed.stop.begin()
        for task in waiting { #expect(await task.value == .shuttingDown) }
        people.end(.shown)
        #expect(people.uids == [1000])
    }

    @Test("no question is asked for a caller that has gone, and a late answer does not count")
    func gone() async throws {
        let people = Questions(silent: 1000)
        let bed = try await AccessBed(presence: people) { $0.audience = .everybody(overflow: nil) }
        let (silent, other) = (try bed.caller(), try bed.caller { $0.uid = 1001 })
        func ask(_ caller: Caller) -> Task<ErrorKind?, Never> {
            Task {
                do throws(BrokerError) {
                    try await bed.policy.requirePresence(PresenceQuestion("grants.approve"), of: caller)
                    return nil
                } catch {
                    return error.kind
                }
            }
        }
        let asked = ask(silent)
        try await eventually("the first is asked") { people.uids == [1000] }
        let waiting = (0..<3).map { _ in ask(silent) }
        for task in waiting + [asked] { task.cancel() }
        // None of them waits for the question that is still on the screen.
        for task in waiting + [asked] { #expect(await task.value == .userCanceled) }
        let next = ask(silent)
        people.end(.shown)
        #expect(await next.value == nil)
        #expect(people.uids == [1000, 1000])
        #expect(await ask(other).value == nil)
    }
}
