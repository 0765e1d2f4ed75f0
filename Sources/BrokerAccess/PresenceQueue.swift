import BrokerModel
import Synchronization

/// Asks each person one question at a time; nobody waits for another person's question.
final class PresenceQueue: Sendable {
    enum End<Answer: Sendable>: Sendable {
        case answered(Answer)
        /// The task was canceled: the person is not asked any more, and a late answer does not count.
        case canceled
        case brokerStops
    }

    private let stop: StopSignal
    /// The questions that wait for the one on a person's screen. There is an entry, maybe an empty one, while there is one.
    private let waiting = Mutex<[Partition: [Promise<End<Void>>]]>([:])

    init(_ stop: StopSignal) { self.stop = stop }

    func run<Answer: Sendable>(
        of partition: Partition, _ ask: @escaping @Sendable () async -> Answer
    ) async -> End<Answer> {
        guard !stop.hasBegun else { return .brokerStops }
        switch await turn(of: partition) {
        case .canceled: return .canceled
        case .brokerStops: return .brokerStops
        case .answered where stop.hasBegun:
            pass(in: partition)
            return .brokerStops
        case .answered where Task.isCancelled:
            pass(in: partition)
            return .canceled
        case .answered: break
        }
        let end = Promise<End<Answer>>()
        // A question stays on the screen until it is answered, whether or not it still counts.
        Task {
            let answer = await ask()
            pass(in: partition)
            end.fulfil(.answered(answer))
        }
        return await stop.wait(for: end, stopped: .brokerStops, canceled: .canceled)
    }

    private func turn(of partition: Partition) async -> End<Void> {
        let turn = Promise<End<Void>>()
        let isFirst = waiting.withLock { waiting in
            let isFirst = waiting[partition] == nil
            waiting[partition, default: []] += isFirst ? [] : [turn]
            return isFirst
        }
        if isFirst { return .answered(()) }
        let end = await stop.wait(for: turn, stopped: .brokerStops, canceled: .canceled)
        waiting.withLock { $0[partition]?.removeAll { $0 === turn } }
        return end
    }

    /// Lets the next question be asked.
    private func pass(in partition: Partition) {
        waiting.withLock { waiting in
            while let next = waiting[partition]?.first {
                waiting[partition]?.removeFirst()
                // One that was canceled a moment ago is still there.
                if next.fulfil(.answered(())) { return }
            }
            waiting[partition] = nil
        }
    }
}
