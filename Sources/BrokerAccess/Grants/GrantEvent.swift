import BrokerModel
import BrokerValues

/// An event of a request or a grant, for the person's own tools.
package struct GrantEvent: Sendable {
    package var partition: Partition
    package var change: GrantChange
    /// For an approval: the request that it answered, if any.
    package var request: GrantRequest?
    package var grant: Grant?
}
