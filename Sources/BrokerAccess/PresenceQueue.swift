import BrokerModel
import Synchronization

/// One question at a time for each user: a person sees one, and waits for no other person's.
final class PresenceQueue: Sendable {
    private struct Line {
        let turns = Turns()
        var count = 0
    }

    /// Whoever wants the person to be asked.
    private final class Asker: Sendable {
        let hasGone = Atomic(false)
    }

    private let lines = Mutex<[Partition: Line]>([:])

    /// - Returns: nil when the task was cancelled: nobody is asked for whoever has gone, and no answer counts for them.
    func run<Answer: Sendable>(
        of partition: Partition, _ ask: @escaping @Sendable () async -> Answer
    ) async -> Answer? {
        let turns = lines.withLock { lines in
            var line = lines[partition] ?? Line()
            line.count += 1
            lines[partition] = line
            return line.turns
        }
        defer {
            lines.withLock { lines in
                lines[partition]?.count -= 1
                if lines[partition]?.count == 0 { lines[partition] = nil }
            }
        }
        let asker = Asker()
        return await withTaskCancellationHandler {
            let answer = await turns.run { asker.hasGone.load(ordering: .relaxed) ? nil : await ask() }
            return asker.hasGone.load(ordering: .relaxed) ? nil : answer
        } onCancel: {
            asker.hasGone.store(true, ordering: .relaxed)
        }
    }
}
