import BrokerRPC

/// The kind of machine that the broker runs on (MSAL: `MSALDeviceInformation`).
public struct DeviceInformation: Sendable, Hashable {
    /// Whether a sign-out is for one app or for all.
    public enum Mode: Sendable, Hashable {
        /// A device of one person: each app signs out by itself.
        case `private`
        /// A device of many people, one after the other: a sign-out is for all apps.
        case shared
    }

    /// The mode that the administrator has set (`device.mode`; MSAL: `deviceMode`).
    public let mode: Mode
    /// The broker's version.
    public let brokerVersion: String
}

extension PublicClientApplication {
    /// The configuration of the machine (MSAL: `getDeviceInformation`).
    ///
    /// - Returns: the administrator's settings.
    /// - Throws: the errors of any call.
    public func deviceInformation() async throws(BrokerClientError) -> DeviceInformation {
        try await DeviceInformation(connection.call(GetBrokerStatus.self, .init()))
    }
}

extension DeviceInformation {
    init(_ status: GetBrokerStatus.Result) {
        mode =
            switch status.device.mode {
            case .private: .private
            case .shared: .shared
            }
        brokerVersion = status.version
    }
}
