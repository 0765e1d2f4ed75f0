import BrokerModel
import BrokerValues

/// Providers that return a refresh token only after asking the person for consent (OpenID Connect Core, section 11). Pure.
enum OfflineConsent {
    /// Whether a sign-in adds the consent prompt. `none` allows no prompt, and a new account (`create`) consents anyway.
    static func isAsked(with prompt: Prompt?, takesConsent: Bool?) -> Bool {
        switch prompt {
        case .consent: true
        case nil, .login, .selectAccount: takesConsent == true
        case .some(.none), .create: false
        }
    }

    /// An answer's evidence about the provider.
    ///
    /// - Parameters:
    ///   - scopes: the requested scopes.
    ///   - isAsked: whether consent was requested.
    ///   - known: ``AppMetadataRecord/refreshTokenTakesConsent``.
    /// - Returns: the new knowledge; `nil` if it is unchanged.
    static func learned(
        from response: TokenResponse, to scopes: Scopes, isAsked: Bool, prompt: Prompt?, known: Bool?,
        at metadata: ProviderMetadata
    ) -> Bool? {
        let isAskedFor = isOffered(at: metadata) && ScopeRules.offlineAccess.isSubset(of: scopes)
        guard isAskedFor || metadata.refreshTokenMayTakeConsent, prompt != Prompt.none else { return nil }
        switch (response.refreshToken != nil, isAsked) {
        case (true, true): return nil
        // The provider does not require consent for a refresh token, or has stopped requiring it.
        case (true, false): return known == true ? false : nil
        case (false, true): return known == false ? nil : false
        case (false, false): return known == nil ? true : nil
        }
    }

    private static func isOffered(at metadata: ProviderMetadata) -> Bool {
        !metadata.authority.rules.takesOfflineAccess
            && metadata.scopesSupported.map { ScopeRules.offlineAccess.isSubset(of: Scopes($0)) } ?? false
    }
}
