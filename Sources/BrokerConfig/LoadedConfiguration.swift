/// A configuration, and the origin of each value that is not the default.
package struct LoadedConfiguration: Sendable, Equatable {
    package var configuration: BrokerConfiguration
    package var origins: [String: ConfigurationOrigin] = [:]

    func origin(of name: String) -> ConfigurationOrigin { origins[name] ?? .default }
}
