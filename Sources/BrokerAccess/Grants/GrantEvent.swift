import BrokerModel
import BrokerValues

/// Something that happened to a request or to a grant; for the person's own tools.
package struct GrantEvent: Sendable {
    package var partition: Partition
    package var change: GrantChange
    /// Of an approval: what was answered by it, if anything was asked.
    package var request: GrantRequest?
    package var grant: Grant?
}
