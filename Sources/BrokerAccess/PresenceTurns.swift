import BrokerModel
import Synchronization

/// One question at a time for each user: a person sees one, and waits for no other person's.
final class PresenceTurns: Sendable {
    private struct Line {
        let turns = Turns()
        var count = 0
    }

    private let lines = Mutex<[Partition: Line]>([:])

    func run<Answer: Sendable>(
        of partition: Partition, _ ask: @escaping @Sendable () async -> Answer
    ) async -> Answer {
        let turns = lines.withLock { lines in
            lines[partition, default: Line()].count += 1
            return lines[partition]?.turns
        }
        defer {
            lines.withLock { lines in
                lines[partition]?.count -= 1
                if lines[partition]?.count == 0 { lines[partition] = nil }
            }
        }
        guard let turns else { return await ask() }
        return await turns.run(ask)
    }
}
