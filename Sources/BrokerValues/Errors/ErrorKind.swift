/// The kind of an error, as named by the protocol (`error.data.kind`).
///
/// The set is closed on the wire: a client of protocol version 1 receives only these.
package enum ErrorKind: String, Codable, Sendable, CaseIterable, Hashable {
    case interactionRequired
    case serverDeclinedScopes
    case userCanceled
    case timedOut
    case offline
    case serverUnavailable
    case throttled
    case accessDenied
    case grantRequired
    case locked
    case accountNotFound
    case ambiguousAccount
    case appNotFound
    case invalidParameter
    case invalidAuthority
    case invalidClient
    case invalidScope
    case unauthorizedClient
    case invalidResponse
    case mismatchedUser
    case unsupported
    case `internal`

    /// Whether the same request may succeed later by itself.
    package var isRetryable: Bool {
        switch self {
        case .offline, .serverUnavailable, .throttled, .timedOut: true
        default: false
        }
    }
}

/// The specific cause of an ``ErrorKind`` (`error.data.reason`).
package enum ErrorReason: String, Codable, Sendable, CaseIterable, Hashable {
    // interactionRequired
    case noTokens
    case signedOut
    case refreshTokenExpired
    case refreshTokenRevoked
    case consentRequired
    case claimsChallenge
    case scopesNotGranted
    case loginRequired
    case idTokenExpired
    case notInTenant
    case notAssigned
    case blockedByPolicy
    case accountDeleted

    // timedOut; answerNotAccepted also invalidParameter
    case answerPending
    case answerNotAccepted

    // unauthorizedClient
    case protectionPolicyRequired

    // accessDenied
    case otherUser
    case notRoot
    case otherAccount
    case callerNotListed
    case vaultRolledBack
    case adHocForbidden
    case grantDenied
    case scopesNotAllowed
    case wrongPassphrase
    case presenceRequired

    // locked, internal
    case keyAwaited
    case keyUnavailable

    // serverUnavailable
    case refreshRefused

    // throttled
    case tooManyInteractions
    case tooManySubscriptions
    case quotaReached

    // serverUnavailable, internal
    case shuttingDown
    case interrupted
    case tooManyConnections
    case vaultDamaged
    case vaultNotWritable

    // internal
    case notStarted
}
