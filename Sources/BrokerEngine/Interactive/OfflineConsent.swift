import BrokerModel
import BrokerValues

/// Providers that give a refresh token only where the person was asked for consent (OpenID Connect Core, section 11). Pure.
enum OfflineConsent {
    /// Whether a sign-in asks with consent, besides what it asks anyway. Nobody may be asked with `none`, and a new account
    /// consents by itself.
    static func isAsked(with prompt: Prompt?, takesConsent: Bool?) -> Bool {
        switch prompt {
        case .consent: true
        case nil, .login, .selectAccount: takesConsent == true
        case .some(.none), .create: false
        }
    }

    /// What an answer tells of the provider.
    ///
    /// - Parameters:
    ///   - scopes: that were asked for.
    ///   - isAsked: whether it was with consent.
    ///   - known: ``AppMetadataRecord/refreshTokenTakesConsent``.
    /// - Returns: what is known from now on; nil when that is what was known.
    static func learnt(
        from response: TokenResponse, to scopes: Scopes, isAsked: Bool, prompt: Prompt?, known: Bool?,
        at metadata: ProviderMetadata
    ) -> Bool? {
        let isAskedFor = isOffered(at: metadata) && ScopeRules.offlineAccess.isSubset(of: scopes)
        guard isAskedFor || metadata.refreshTokenMayTakeConsent, prompt != Prompt.none else { return nil }
        switch (response.refreshToken != nil, isAsked) {
        case (true, true): return nil
        // It was no habit of the provider's, or is none any more.
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

extension EngineServices {
    /// ``AppMetadataRecord/refreshTokenTakesConsent``. Reads the disk.
    func refreshTokenTakesConsent(_ client: CacheIndex.ClientKey) throws(BrokerError) -> Bool? {
        try reading { () throws(VaultError) in try index.loadMetadata(of: client)?.refreshTokenTakesConsent }
    }

    /// What cannot be written is learnt again by the next sign-in.
    func note(of client: CacheIndex.ClientKey, _ change: @escaping @Sendable (inout AppMetadataRecord) -> Void) async {
        _ = try? await write(in: client.partition) { [vault] index throws(VaultError) in
            var record = try index.loadMetadata(of: client) ?? AppMetadataRecord(of: client)
            change(&record)
            let sealed = try vault.seal(record, secret: nil, in: client.partition)
            return (CacheChange(in: client.partition, [.appMetadata(.put(sealed))]), ())
        }
    }
}

extension CacheIndex.ClientKey {
    init(of app: AppRegistration, at authority: Authority, in partition: Partition) {
        self.init(
            partition: partition, group: app.effectiveGroup, clientID: app.clientID, environment: authority.environment)
    }
}
