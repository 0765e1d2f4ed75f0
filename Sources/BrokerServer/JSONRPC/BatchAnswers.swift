import BrokerRPC
import BrokerSocket
import BrokerValues

/// The answers of a batch until the last one is ready.
struct BatchAnswers: Sendable {
    /// Less than a client may leave unread (``ConnectionLimits/unreadAnswers``), and more than any one answer has.
    private static let maximum = 6 << 20
    private static let tooLarge = BrokerError(
        .invalidParameter,
        "The answer to this request is too large beside those of its batch, and it may have taken effect; ask again by itself."
    )
    private var writer = JSONWriter()

    var count: Int { writer.bytes.count }

    /// Notifications have no element in the array.
    ///
    /// - Returns: false if there is an error in place of the answer.
    mutating func add(_ answer: JSONWriter, to id: RequestID?) -> Bool {
        guard !answer.bytes.isEmpty else { return true }
        guard count + answer.bytes.count <= Self.maximum else {
            writer.refuse(with: RPCError(Self.tooLarge.correlated(CorrelationID.make())), to: id)
            return false
        }
        writer.json(answer.bytes)
        return true
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
