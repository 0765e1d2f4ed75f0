import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Answers silent requests from memory if the provider has just refused an equal one (MSAL, "Throttling"; docs/decisions/0019).
/// Pure: the time is a parameter.
package struct RequestThrottle: Sendable {
    /// The properties that make two requests equal.
    package struct Request: Sendable, Hashable {
        package var partition: Partition
        package var owner: TokenOwner
        package var authority: Authority
        /// Distinguishes the refresh token from its successors: a refusal of one says nothing about the next.
        package var token: [UInt8]
        package var scopes: Scopes
        package var tokenType: TokenType
        package var claims: String?
        package var resources: [String]
        package var parameters: [String: String]

        package init(
            partition: Partition, owner: TokenOwner, authority: Authority, token: [UInt8], scopes: Scopes,
            tokenType: TokenType = .bearer, claims: String? = nil, resources: [String] = [],
            parameters: [String: String] = [:]
        ) {
            self.partition = partition
            self.owner = owner
            self.authority = authority
            self.token = token
            self.scopes = scopes
            self.tokenType = tokenType
            self.claims = claims
            self.resources = resources
            self.parameters = parameters
        }
    }

    /// The owner and the type of refresh tokens that are no longer valid.
    package struct TokenKey: Sendable, Hashable {
        package var partition: Partition
        package var owner: TokenOwner
        package var tokenType: TokenType

        package init(partition: Partition, owner: TokenOwner, tokenType: TokenType = .bearer) {
            self.partition = partition
            self.owner = owner
            self.tokenType = tokenType
        }
    }

    private struct Ending {
        var error: BrokerError
        var until: Duration
    }

    private struct Entry {
        /// The provider's error; `nil` if it is not returned, because there is no pause, or it is over.
        var error: BrokerError?
        var until: Duration
        /// Failures in a row, for the growing pause.
        var failures: Int
        /// When the entry expires, including the number of failures.
        var forgottenAt: Duration
    }

    /// The pause when the provider asks for one without a length (MSAL: 60 s), and the longest growing one.
    package static let usualPause: Duration = .seconds(60)
    /// The maximum that a provider's `Retry-After` can impose.
    package static let longestPause: Duration = .seconds(3600)
    /// The first of the growing pauses.
    package static let firstPause: Duration = .seconds(2)
    /// How long an equal request gets the same answer, that only the person can help (MSAL: 120 s).
    package static let interactionMemory: Duration = .seconds(120)

    /// The requests of a group share a quota.
    private var entries: FairCache<GroupKey, Request, Entry>
    private var endings: FairCache<GroupKey, TokenKey, Ending>

    package init(limit: Int = 256) {
        entries = FairCache(limit: limit)
        endings = FairCache(limit: limit)
    }

    package var count: Int { entries.count }

    /// - Returns: the answer without asking the provider; `nil` if the request may be sent.
    /// - Parameter insists: a request that bypasses the cached token (`forceRefresh`): a refusal that an administrator can correct
    ///   is retried after a moment.
    package func refusal(of request: Request, insists: Bool = false, at now: Duration) -> BrokerError? {
        guard let entry = entries.peek(request), now < entry.until, let refused = entry.error else { return nil }
        let isOld = now >= entry.until - Self.interactionMemory + Self.firstPause
        if insists, isOld, refused.isForAdministrator { return nil }
        guard refused.kind != .interactionRequired else { return refused }
        let (seconds, attoseconds) = (entry.until - now).components
        let wait = Int(seconds) + (attoseconds > 0 ? 1 : 0)
        var error = BrokerError(
            .throttled,
            "The provider is not asked again so soon after it failed; try again in \(wait.inSeconds).",
            cause: refused)
        error.details = refused.details
        error.details.correlationID = nil
        error.details.retryAfter = wait
        return error
    }

    /// Records that the provider was asked and did not issue a token.
    ///
    /// A `Retry-After` and status 429 always cause a pause. A 5xx response alone, or a lost one, does so only from the second time
    /// on, and then a growing one: the first problem is most often over with the next request.
    package mutating func failed(_ request: Request, with error: BrokerError, at now: Duration) {
        let pause: Duration
        let failures = 1 + (entries.peek(request).map { now < $0.forgottenAt ? $0.failures : 0 } ?? 0)
        switch error.kind {
        case .interactionRequired:
            pause = Self.interactionMemory
        case .serverUnavailable:
            if let asked = error.details.retryAfter {
                pause = min(max(.seconds(asked), .seconds(1)), Self.longestPause)
            } else if error.details.httpStatus == 429 {
                pause = Self.usualPause
            } else if failures == 1 {
                pause = .zero
            } else {
                pause = min(Self.firstPause * (1 << min(failures - 2, 6)), Self.usualPause)
            }
        default:
            // Without a network, or after a malformed response, waiting does not relieve anyone.
            return
        }
        entries.keep(
            Entry(
                error: pause > .zero ? error : nil, until: now + pause, failures: failures,
                forgottenAt: now + pause + Self.usualPause * 2),
            for: request, of: GroupKey(partition: request.partition, group: request.owner.group))
        if entries.isOverLimit { entries.removeAll { now >= $1.forgottenAt } }
        entries.makeRoom()
    }

    package mutating func succeeded(_ request: Request) { entries.remove(request) }

    /// Records that the last refresh token of the holder is no longer valid, and removed.
    package mutating func ended(_ holder: TokenKey, with error: BrokerError, at now: Duration) {
        endings.keep(
            Ending(error: error, until: now + Self.interactionMemory), for: holder,
            of: GroupKey(partition: holder.partition, group: holder.owner.group))
        if endings.isOverLimit { endings.removeAll { now >= $1.until } }
        endings.makeRoom()
    }

    /// - Returns: the holder's error when its last refresh token died. The token cannot be asked again, and another app must not be
    ///   told that nobody ever signed in.
    package func ending(of holder: TokenKey, at now: Duration) -> BrokerError? {
        endings.peek(holder).flatMap { now < $0.until ? $0.error : nil }
    }

    /// Removes answers that are not returned any more. After a pause, the number of failures is kept.
    package mutating func trim(at now: Duration) {
        entries.removeAll { now >= $1.forgottenAt }
        entries.changeAll { if now >= $0.until { $0.error = nil } }
        endings.removeAll { now >= $1.until }
    }

    /// Removes an account's refusals: they do not apply to a new sign-in or a new refresh token.
    package mutating func clear(_ person: KnownAccounts.PersonKey, of group: GroupID, in partition: Partition) {
        func matches(_ owner: TokenOwner, _ place: Partition) -> Bool {
            place == partition && owner.group == group && person.owns(owner)
        }
        entries.removeAll { request, _ in matches(request.owner, request.partition) }
        endings.removeAll { holder, _ in matches(holder.owner, holder.partition) }
    }
}

extension BrokerError {
    /// A refusal that can end without a new sign-in.
    fileprivate var isForAdministrator: Bool {
        guard kind == .interactionRequired else { return false }
        switch reason {
        case .notInTenant, .notAssigned, .blockedByPolicy: return true
        default: return ["unauthorized_client", "access_denied"].contains(details.oauthError)
        }
    }
}

extension RequestThrottle.Request {
    /// - Parameter token: the first one to be redeemed. Its nonce identifies it as well as the whole box, and is shorter.
    init(_ request: SilentRequest, of owner: OwnerKey, spending token: StoredRecord<RefreshTokenRecord>?) {
        self.init(
            partition: request.partition, owner: owner.owner, authority: request.target,
            token: token.map { Array($0.sealed.box.prefix(24)) } ?? [], scopes: request.scopes,
            tokenType: request.tokenType, claims: request.claims, resources: request.resources,
            parameters: request.extraParameters)
    }
}

extension RequestThrottle.TokenKey {
    init(_ request: SilentRequest, of owner: OwnerKey) {
        self.init(partition: request.partition, owner: owner.owner, tokenType: request.tokenType)
    }
}

/// The current throttle.
final class ThrottleBox: Sendable {
    private let throttle = Mutex(RequestThrottle())

    func with<Value: Sendable>(_ body: (inout RequestThrottle) -> Value) -> Value {
        throttle.withLock { body(&$0) }
    }

    func clear(_ person: KnownAccounts.PersonKey, of group: GroupID, in partition: Partition) {
        with { $0.clear(person, of: group, in: partition) }
    }
}
