import BrokerClient
import BrokerRPC

extension WireValue {
    /// A result read by its definition, for whoever wants more than to print it.
    static func understood(_ node: JSONNode) throws(BrokerClientError) -> Self {
        do {
            return try Self(reading: node)
        } catch {
            throw .notUnderstood(cause: error)
        }
    }
}
