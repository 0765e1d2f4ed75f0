/// Pushed authorization requests (RFC 9126).
struct PushedRequests: Sendable {
    struct Pushed: Sendable {
        let form: FormValues
        let realm: Realm
        let clientID: String
        let expiresAt: Int
    }

    static let prefix = "urn:ietf:params:oauth:request_uri:"
    private var requests: [String: Pushed] = [:]

    mutating func add(_ pushed: Pushed, name: String, now: Int) -> String {
        requests = requests.filter { now < $0.value.expiresAt }
        let uri = Self.prefix + name
        requests[uri] = pushed
        return uri
    }

    /// Returns the request once.
    mutating func take(_ uri: String, clientID: String?, now: Int) -> Pushed? {
        guard let pushed = requests[uri], now < pushed.expiresAt, pushed.clientID == clientID else { return nil }
        requests[uri] = nil
        return pushed
    }
}
