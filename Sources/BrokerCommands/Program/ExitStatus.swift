import BrokerLink
import BrokerValues

/// The exit statuses for scripts (docs/protocol.md, "brokerctl").
package enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case noBroker = 3
    /// A sign-in, an unlock, a choice among several accounts.
    case personNeeded = 4
    case accessDenied = 5

    init(_ error: BrokerClientError) {
        switch error.code {
        case .internal where error.reason == ErrorReason.notStarted.rawValue: self = .noBroker
        case .brokerNotAvailable, .brokerNotTrusted: self = .noBroker
        case .interactionRequired, .locked, .ambiguousAccount: self = .personNeeded
        case .accessDenied, .grantRequired: self = .accessDenied
        default: self = .failed
        }
    }
}
