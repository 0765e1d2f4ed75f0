import BrokerValues

// Maps the public types to the protocol's.

extension PublicClientApplicationConfig {
    /// The name of a required field that is blank.
    var blankField: String? {
        func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }
        switch app {
        case .registered(let name): return isBlank(name) ? "app's name" : nil
        case .adHoc(let clientId, let authority):
            return isBlank(clientId) ? "client id" : isBlank(authority) ? "authority" : nil
        }
    }

    /// The authority of an unregistered app, if it cannot be a URL. The broker decides which URLs are valid.
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
