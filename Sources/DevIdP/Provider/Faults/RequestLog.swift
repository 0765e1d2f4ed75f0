/// A request to the provider, for tests that count. It contains no secret, code or token.
package struct LogEntry: Codable, Sendable, Equatable {
    package var sequence: Int
    /// Seconds since 1970, by the provider's clock.
    package var time: Int
    package var method: String
    package var endpoint: Endpoint
    package var grantType: String?
    package var clientID: String?
    package var scope: String?
    package var prompt: String?
    package var loginHint: String?
    package var domainHint: String?
    package var claims: String?
    /// The tenant in the path.
    package var tenant: String?
    /// The status of the response; absent without one.
    package var status: Int?
    package var fault: Fault.Kind?
}

struct RequestLog: Sendable {
    private(set) var entries: [LogEntry] = []

    /// - Returns: the entry's index, for ``close(_:status:)``.
    mutating func open(_ entry: LogEntry) -> Int {
        var entry = entry
        entry.sequence = entries.count + 1
        entries.append(entry)
        return entries.count - 1
    }

    mutating func close(_ index: Int, status: Int) {
        if entries.indices.contains(index) { entries[index].status = status }
    }

    mutating func removeAll() { entries = [] }
}
