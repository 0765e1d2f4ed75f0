import FoundationEssentials

extension BrokerClientError: LocalizedError {
    /// ``message``: what `localizedDescription` says.
    public var errorDescription: String? { message }
}
