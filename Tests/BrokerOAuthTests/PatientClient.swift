import BrokerOAuth

extension HTTPClientConfiguration {
    /// A client whose time limits a busy machine does not reach, for every test that is not about a limit.
    static func patient(caFile: String? = nil, proxies: ProxySettings = .none) -> HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration(version: "1", caFile: caFile, proxies: proxies)
        (configuration.connectTimeout, configuration.totalTimeout) = (.seconds(600), .seconds(600))
        return configuration
    }
}
