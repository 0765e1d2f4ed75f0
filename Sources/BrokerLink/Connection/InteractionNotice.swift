import BrokerRPC
import BrokerValues

/// A page or code that the broker asks the client to show to the person while a request waits.
package enum InteractionNotice: Sendable {
    case open(InteractionOpening)
    case deviceCode(DeviceCodeOpening)
    /// Another request has shown the page.
    case joined(InteractionJoining)

    /// The id for cancelling it; `nil` if another request shows it.
    var interactionID: String? {
        switch self {
        case .open(let params): params.interactionID
        case .deviceCode(let params): params.interactionID
        case .joined: nil
        }
    }

    init?(_ notification: Link.Notification) {
        switch notification.method {
        case InteractionOpen.name:
            guard let params = try? InteractionOpen.Params(reading: notification.params) else { return nil }
            self = .open(params)
        case InteractionDeviceCode.name:
            guard let params = try? InteractionDeviceCode.Params(reading: notification.params) else { return nil }
            self = .deviceCode(params)
        case InteractionJoined.name:
            guard let params = try? InteractionJoined.Params(reading: notification.params) else { return nil }
            self = .joined(params)
        default: return nil
        }
    }
}
