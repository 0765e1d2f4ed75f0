/// The state of a provider. It is kept in memory, behind one mutex, and ends with the process.
struct ProviderState: Sendable {
    var policy: TokenPolicy
    var tokens = TokenStore()
    var devices = DeviceAuthorizations()
    var pushed = PushedRequests()
    var proofs = ProofLedger()
    /// User names by the `sub` of this provider's ID tokens.
    var subjects: [String: String] = [:]
    /// The claims that token requests must include; otherwise they are refused with this challenge.
    var requiredClaims = ClaimsRequest.none
    /// Seconds by which a test has moved this provider's clock.
    var clockOffset = 0
    /// Sessions by `sid`.
    private var sessions: [String: BrowserSession] = [:]
    private var transactions: [String: Transaction] = [:]
    /// Scopes consented to, by person and client.
    private var consents: [ConsentKey: Set<String>] = [:]

    private struct ConsentKey: Hashable {
        let username: String
        let clientID: String
    }

    init(policy: TokenPolicy) { self.policy = policy }

    func session(cookie: String?) -> BrowserSession? {
        guard let cookie else { return nil }
        return sessions.values.first { $0.cookie == cookie }
    }

    mutating func save(_ session: BrowserSession) { sessions[session.id] = session }

    mutating func removeSessions() { sessions = [:] }

    /// An unfinished sign-in, if it belongs to this browser and is not too old.
    func transaction(_ id: String?, session: BrowserSession?, now: Int) -> Transaction? {
        guard let id, let session, let found = transactions[id], found.sessionID == session.id, now < found.expiresAt
        else { return nil }
        return found
    }

    mutating func save(_ transaction: Transaction, now: Int) {
        transactions = transactions.filter { now < $0.value.expiresAt }
        transactions[transaction.id] = transaction
    }

    mutating func finish(_ transaction: Transaction) { transactions[transaction.id] = nil }

    func hasConsent(_ username: String, clientID: String, scopes: [String]) -> Bool {
        consents[ConsentKey(username: username, clientID: clientID)]?.isSuperset(of: scopes) ?? false
    }

    mutating func addConsent(_ username: String, clientID: String, scopes: [String]) {
        consents[ConsentKey(username: username, clientID: clientID), default: []].formUnion(scopes)
    }
}
