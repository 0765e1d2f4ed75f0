import Hummingbird

/// The device authorization grant (RFC 8628).
extension Provider {
    static let deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

    /// Section 3.1.
    func authorizeDevice(_ request: Request, _ context: ProviderContext) throws -> Response {
        let form = context.form
        if let name = form.repeatedByMistake {
            throw OAuthFailure(.invalidRequest, "\(name) came more than once")
        }
        let realm = try realm(of: context)
        let client = try authenticateClient(request, form)
        let userCode = freshUserCode()
        var asked = try AuthorizationRequest(
            form, realm: realm, clientID: client.id, channel: .device(userCode: userCode), takesScope: takes)
        // The person must see the device's name and its code (section 5.4).
        asked.prompts = [.consent]
        return try json(add(asked, userCode: userCode))
    }

    private func add(_ asked: AuthorizationRequest, userCode: String) -> [String: JSON] {
        let deviceCode = randomText()
        let now = now()
        let policy = state.withLock { state in
            let policy = state.policy
            state.devices.add(
                DeviceAuthorization(
                    userCode: userCode, request: asked, expiresAt: now + policy.deviceCodeLifetime,
                    interval: policy.devicePollInterval),
                deviceCode: deviceCode)
            return policy
        }
        var members: [String: JSON] = [
            "device_code": .string(deviceCode), "user_code": .string(userCode),
            "verification_uri": .string(base + "/device"), "expires_in": .integer(policy.deviceCodeLifetime),
            "interval": .integer(policy.devicePollInterval),
        ]
        if options.givesCompleteVerificationURI {
            members["verification_uri_complete"] = .string(base + "/device?user_code=" + userCode)
        }
        flavor.finish(deviceAnswer: &members)
        return members
    }

    /// The page at `verification_uri`: a person types the code, or arrives with it and continues at once.
    func enterDeviceCode(_ request: Request, _ context: ProviderContext) throws -> Response {
        guard let typed = context.form["user_code"] else { return page(.enterCode(action: base)) }
        let now = now()
        guard let found = state.withLock({ $0.devices.find(typed: typed, now: now) }) else {
            return page(.enterCode(action: base, typed: typed, alert: "This code is unknown, used or expired."))
        }
        return begin(found.request, request)
    }

    /// Decides in place of a person.
    ///
    /// - Returns: false if the code is not pending, or the person is unknown.
    func decideDevice(_ userCode: String, approvedBy username: String?) -> Bool {
        let now = now()
        guard let found = state.withLock({ $0.devices.find(typed: userCode, now: now) }) else { return false }
        guard let username else {
            state.withLock { $0.devices.settle(found.userCode, .denied) }
            return true
        }
        guard let user = user(username) else { return false }
        let scopes = found.request.scopes.filter { !options.declinedScopes.contains($0) }
        let account = SignedInAccount(username: user.username, authenticatedAt: now)
        let grant = Grant(found.request, account: account, sessionID: randomText(), scopes: scopes)
        state.withLock { $0.devices.settle(found.userCode, .approved(grant)) }
        return true
    }
}
