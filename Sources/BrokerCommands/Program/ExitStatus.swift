import BrokerLink
import BrokerValues

/// What scripts tell outcomes apart by (docs/protocol.md, "brokerctl").
package enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case noBroker = 3
    case interactionRequired = 4
    case accessDenied = 5

    init(_ error: BrokerClientError) {
        switch error.code {
        case .internal where error.reason == ErrorReason.notStarted.rawValue: self = .noBroker
        case .brokerNotAvailable, .brokerNotTrusted: self = .noBroker
        case .interactionRequired: self = .interactionRequired
        case .accessDenied, .grantRequired: self = .accessDenied
        default: self = .failed
        }
    }
}
