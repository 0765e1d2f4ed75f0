/// A sign-in that starts on a device and ends in a browser elsewhere (RFC 8628).
struct DeviceAuthorization: Sendable {
    enum Outcome: Sendable {
        case pending
        case approved(Grant)
        case denied
    }

    let userCode: String
    let request: AuthorizationRequest
    let expiresAt: Int
    /// Seconds between two polls; it grows if the device polls too early.
    var interval: Int
    var lastPoll: Int?
    var outcome = Outcome.pending
}

/// The sign-ins that devices wait for, by device code.
struct DeviceAuthorizations: Sendable {
    private var waiting: [String: DeviceAuthorization] = [:]

    mutating func add(_ authorization: DeviceAuthorization, deviceCode: String) {
        waiting[deviceCode] = authorization
    }

    /// The request for a typed code: case and separators are ignored (section 6.1).
    func find(typed: String, now: Int) -> DeviceAuthorization? {
        let wanted = Self.bare(typed)
        return waiting.values.first { authorization in
            guard case .pending = authorization.outcome, now < authorization.expiresAt else { return false }
            return Self.bare(authorization.userCode) == wanted
        }
    }

    mutating func settle(_ userCode: String, _ outcome: DeviceAuthorization.Outcome) {
        for (code, authorization) in waiting where authorization.userCode == userCode {
            waiting[code]?.outcome = outcome
        }
    }

    /// A poll by the device (section 3.5). It receives the result only once.
    mutating func poll(_ deviceCode: String, clientID: String, now: Int) throws(OAuthFailure) -> Grant {
        guard var found = waiting[deviceCode], found.request.clientID == clientID else {
            throw OAuthFailure(.invalidGrant, "the device code is unknown, or was given to another client")
        }
        guard now < found.expiresAt else {
            throw OAuthFailure(.expiredToken, "the device code has expired")
        }
        let isTooEarly = found.lastPoll.map { now - $0 < found.interval } ?? false
        found.lastPoll = now
        if isTooEarly { found.interval += 5 }
        waiting[deviceCode] = found
        guard !isTooEarly else {
            throw OAuthFailure(.slowDown, "wait \(found.interval) seconds between two requests")
        }
        switch found.outcome {
        case .pending: throw OAuthFailure(.authorizationPending, "the person is not done yet")
        case .denied:
            waiting[deviceCode] = nil
            throw OAuthFailure(.accessDenied, "the person said no", .deviceDeclined)
        case .approved(let grant):
            waiting[deviceCode] = nil
            return grant
        }
    }

    private static func bare(_ code: String) -> String { code.uppercased().filter { $0.isLetter || $0.isNumber } }
}

/// Eight consonants, which form no words, as section 6.1 of RFC 8628 suggests.
func freshUserCode() -> String {
    let letters = (0..<8).map { _ in "BCDFGHJKLMNPQRSTVWXZ".randomElement() ?? "B" }
    return String(letters.prefix(4)) + "-" + String(letters.suffix(4))
}
