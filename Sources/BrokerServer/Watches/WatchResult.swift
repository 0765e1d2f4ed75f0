import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues

/// The token that the client of a watch has.
struct HeldToken: Sendable {
    let box: [UInt8]
    /// ``WatchedTokens/fingerprint(of:)``
    let fingerprint: Int
    /// ``WatchedTokens/minimumLifetime(of:asked:)``
    let minimumLifetime: Int64?
}

/// A token that the client does not have yet.
struct NewToken: Sendable {
    let times: WatchSchedule.Times
    let held: HeldToken
    let grant: GrantInUse?
    /// The notification with it.
    let line: JSONWriter
}

/// The result of one check of a watch.
enum WatchResult: Sendable {
    case another(NewToken)
    case same
    case failed(BrokerError)

    var finding: WatchSchedule.Finding {
        switch self {
        case .another(let newToken): .another(newToken.times)
        case .same: .same
        case .failed(let error): .failed(error)
        }
    }
}
