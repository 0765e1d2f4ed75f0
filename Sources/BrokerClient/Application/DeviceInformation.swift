import BrokerRPC

/// What kind of machine the broker runs on (MSAL: `MSALDeviceInformation`).
public struct DeviceInformation: Sendable, Hashable {
    /// Whether a sign-out is for one app or for all.
    public enum Mode: Sendable, Hashable {
        /// One person's: each app signs out by itself.
        case `private`
        /// Many people's, one after the other: a sign-out is for all apps.
        case shared
    }

    /// As the administrator set it (`device.mode`).
    public let mode: Mode
    /// The broker's version.
    public let brokerVersion: String
}

extension PublicClientApplication {
    /// How the machine is configured (MSAL: `getDeviceInformation`).
    ///
    /// - Returns: what the administrator set.
    /// - Throws: what any call may fail with.
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
