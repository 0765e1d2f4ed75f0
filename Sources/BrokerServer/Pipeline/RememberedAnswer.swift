import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// An answer from memory, to be given to the same request of the same connection again without reading and deciding anew
/// (docs/decisions/0103). It holds no token: who gives it opens that from its sealed form, as ever.
final class RememberedAnswer: Sendable {
    /// What was kept in mind longer is decided anew, whatever was changed or not: what is in use counts as used there.
    private static let longest = Duration.seconds(1)

    /// Where the id stands in the line.
    let idRange: Range<Int>
    /// Counts it for the audit log.
    let tally: AuditTally
    let answer: RepeatableAnswer
    /// ``RequestPipeline/changes`` before the request was let in.
    private let changes: UInt64
    /// When the request began (``BrokerClock/uptime``).
    private let since: Duration

    init(
        _ answer: RepeatableAnswer, idRange: Range<Int>, countedBy tally: AuditTally, changes: UInt64, since: Duration
    ) {
        self.answer = answer
        self.idRange = idRange
        self.tally = tally
        self.changes = changes
        self.since = since
    }

    func isRecent(at uptime: Duration) -> Bool { uptime - since < Self.longest && uptime >= since }

    func holds(after changes: UInt64, at uptime: Duration, _ now: NumericDate) -> Bool {
        changes == self.changes && isRecent(at: uptime) && answer.isGood(now)
    }
}

/// What a handler says of an answer that the same request may get again.
struct RepeatableAnswer: Sendable {
    /// Whether it still is the answer, while nothing is changed.
    let isGood: @Sendable (_ now: NumericDate) -> Bool
    /// Writes the result. When it throws, what it wrote is taken back.
    let write: @Sendable (_ correlationID: String, inout JSONWriter) throws(BrokerError) -> Void
}

extension RequestPipeline {
    /// Grows with every change of what requests are let in by, and answered from memory.
    var changes: UInt64 { policy.changes &+ broker.changes }

    func mayRepeat(_ remembered: RememberedAnswer?) -> Bool { remembered?.isRecent(at: log.start()) ?? false }

    /// Answers a line that asks for the same as the last one. What can change by itself is asked again: the lock, the clock, whose the
    /// records are; and it is counted and logged as any other.
    ///
    /// - Returns: false when it has to go the whole way; then nothing is written.
    func answerAgain(
        _ remembered: RememberedAnswer, to id: RequestID, in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> Bool {
        let begin = log.start()
        guard remembered.holds(after: changes, at: begin, clock.now),
            policy.admitAgain(context.caller, connectedAt: context.connectedAt)
        else { return false }
        defer { policy.leave(neededKeys: true) }
        let correlationID = CorrelationID.make()
        let start = writer.bytes.count
        writer.beginResult(id: id)
        do throws(BrokerError) {
            try remembered.answer.write(correlationID, &writer)
            writer.endAnswer()
            if log.doneAgain(remembered.tally, correlationID, since: begin) {
                answeredAgain?()
                return true
            }
        } catch {}
        writer.truncate(to: start)
        return false
    }
}
