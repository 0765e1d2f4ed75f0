import BrokerValues

// The public words in terms of the protocol's.

extension PublicClientApplicationConfig {
    /// What a person must have forgotten to fill in.
    var blankField: String? {
        func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }
        switch app {
        case .registered(let name): return isBlank(name) ? "app's name" : nil
        case .adHoc(let clientId, let authority):
            return isBlank(clientId) ? "client id" : isBlank(authority) ? "authority" : nil
        }
    }

    /// The authority of an app that is not registered, if it cannot be a URL. Which URLs will do is the broker's to say.
    var unusableAuthority: String? {
        guard case .adHoc(_, let authority) = app else { return nil }
        return WebURL(authority) == nil ? authority : nil
    }
}

extension Prompt {
    init?(_ type: PromptType) {
        switch type {
        case .promptIfNecessary: return nil
        case .selectAccount: self = .selectAccount
        case .login: self = .login
        case .consent: self = .consent
        case .create: self = .create
        case .never: self = .none
        }
    }
}

extension TokenType {
    init(_ scheme: AuthenticationScheme) {
        switch scheme {
        case .bearer: self = .bearer
        case .dpop: self = .dpop
        }
    }
}

extension AuthenticationScheme {
    init(_ type: TokenType) {
        switch type {
        case .bearer: self = .bearer
        case .dpop: self = .dpop
        }
    }
}

extension TenantProfile {
    init(_ profile: BrokerValues.TenantProfile, of account: BrokerValues.Account) {
        identifier = account.id
        environment = account.environment
        tenantId = profile.tenantId
        authority = profile.authority
        username = profile.username
        name = profile.name
        isHomeTenant = profile.isHomeTenant
        claims = Claims(profile.claims ?? [:])
    }

    /// At a provider without tenants the account has one profile: itself.
    init(_ account: Account) {
        identifier = account.identifier
        environment = account.environment
        tenantId = account.tenantId
        authority = account.authority
        username = account.username
        name = account.name
        isHomeTenant = true
        claims = account.accountClaims
    }
}
