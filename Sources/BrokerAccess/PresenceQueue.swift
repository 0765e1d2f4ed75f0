import BrokerModel
import Synchronization

/// Asks each person one question at a time; nobody waits for another person's question.
final class PresenceQueue: Sendable {
    private struct Queue {
        let turns = Turns()
        var count = 0
    }

    /// A caller that wants the person to be asked.
    private final class Waiter: Sendable {
        let hasGone = Atomic(false)
    }

    private let queues = Mutex<[Partition: Queue]>([:])

    /// - Returns: `nil` if the task was canceled: then the person is not asked, and a late answer does not count.
    func run<Answer: Sendable>(
        of partition: Partition, _ ask: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let turns = queues.withLock { queues in
            var queue = queues[partition] ?? Queue()
            queue.count += 1
            queues[partition] = queue
            return queue.turns
        }
        defer {
            queues.withLock { queues in
                queues[partition]?.count -= 1
                if queues[partition]?.count == 0 { queues[partition] = nil }
            }
        }
        let waiter = Waiter()
        return await withTaskCancellationHandler {
            let answer = await turns.run { waiter.hasGone.load(ordering: .relaxed) ? nil : await ask() }
            return waiter.hasGone.load(ordering: .relaxed) ? nil : answer
        } onCancel: {
            waiter.hasGone.store(true, ordering: .relaxed)
        }
    }
}
