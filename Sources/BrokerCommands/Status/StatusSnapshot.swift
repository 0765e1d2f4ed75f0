import BrokerLink
import BrokerRPC
import BrokerValues

/// The result of one poll.
package struct StatusSnapshot {
    var node: JSONNode
    package var status: GetBrokerStatus.Result
    /// `nil` if the caller may not read them.
    package var metrics: GetMetrics.Result?
    /// The reason if the last poll failed.
    package var failure: BrokerClientError?

    static func take(on connection: DirectConnection) throws(BrokerClientError) -> StatusSnapshot {
        let node = try connection.result(of: GetBrokerStatus.self, .init())
        return StatusSnapshot(
            node: node, status: try .decoded(node), metrics: try? connection.call(GetMetrics.self, .init()))
    }
}
