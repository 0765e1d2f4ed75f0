import BrokerRPC
import BrokerSocket
import BrokerValues

/// The answers of a batch until the last one is ready.
struct BatchAnswers: Sendable {
    /// Less than a client may leave unread (``ConnectionLimits/unreadAnswers``), and more than any one answer has.
    private static let maximum = 6 << 20
    private static let tooLarge = BrokerError(
        .invalidParameter, "The answers of this batch are too large together; send this request by itself.")
    private var writer = JSONWriter()

    var count: Int { writer.bytes.count }

    /// Notifications have no element in the array.
    mutating func add(_ answer: JSONWriter, to id: RequestID?) {
        guard !answer.bytes.isEmpty else { return }
        guard count + answer.bytes.count <= Self.maximum else {
            return writer.refuse(with: RPCError(Self.tooLarge), to: id)
        }
        writer.json(answer.bytes)
    }

    func write(to other: inout JSONWriter) {
        if count > 0 { other.array { other in other.json(writer.bytes) } }
    }
}

extension RequestLine.Item {
    /// Where its answer goes; `nil` for a notification.
    var id: RequestID? {
        switch self {
        case .call(let call): call.id
        case .invalid(let id, _): id
        }
    }
}
