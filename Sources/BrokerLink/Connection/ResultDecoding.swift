import BrokerRPC
import BrokerValues

extension WireValue {
    /// A broker's result, decoded by its definition.
    package static func decoded(_ node: JSONNode) throws(BrokerClientError) -> Self {
        do {
            return try Self(reading: node)
        } catch {
            throw .notUnderstood(cause: error)
        }
    }
}
