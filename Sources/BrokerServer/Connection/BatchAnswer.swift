import BrokerRPC
import BrokerValues

/// The answers of one batch, which go out together when the last is there (JSON-RPC 2.0, section 6).
/// Lives on the reactor's thread.
final class BatchAnswer {
    private var answers = JSONWriter()
    var awaited = 0

    var isEmpty: Bool { answers.bytes.isEmpty }

    /// An empty answer is a notification's: it has no place in the array.
    func add(_ answer: [UInt8]) {
        if !answer.isEmpty { answers.json(answer) }
    }

    func write(to writer: inout JSONWriter) {
        writer.array { writer in writer.json(answers.bytes) }
        answers.wipe()
    }
}
