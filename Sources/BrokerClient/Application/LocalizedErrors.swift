import FoundationEssentials

extension BrokerClientError: LocalizedError {
    /// ``message``, for `localizedDescription`.
    public var errorDescription: String? { message }
}
