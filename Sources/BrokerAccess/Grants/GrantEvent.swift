import BrokerModel
import BrokerValues

/// An event of a request or a grant, for the person's own tools.
package struct GrantEvent: Sendable {
    package var partition: Partition
    package var change: GrantChange
    /// The request that the event is about; `nil` for an approval without a request, and for a revocation.
    package var request: GrantRequest?
    package var grant: Grant?
}
