import FoundationEssentials

extension BrokerClientError: LocalizedError {
    /// The same text as ``message``; `localizedDescription` returns it.
    public var errorDescription: String? { message }
}
