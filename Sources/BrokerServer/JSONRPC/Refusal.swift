import BrokerRPC
import BrokerValues

/// An error that answers no particular request, as a line.
package enum Refusal {
    package static func line(_ error: BrokerError) -> [UInt8] {
        line(RPCError(error.correlated(CorrelationID.make())))
    }

    static func line(_ error: RPCError) -> [UInt8] {
        var writer = JSONWriter()
        writer.refuse(with: error, to: nil)
        writer.endLine()
        return writer.bytes
    }
}
