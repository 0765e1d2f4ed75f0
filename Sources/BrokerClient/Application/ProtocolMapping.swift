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
