import BrokerModel
import BrokerValues

/// Verifies tokens against a provider's published keys, and fetches the keys again if they do not match: providers
/// rotate them at any time. The rate is limited: otherwise anyone able to present tokens could make the broker flood
/// the provider.
struct SignatureCheck: Sendable {
    let documents: DocumentCache<KeySet>

    /// The maximum number of keys that are tried for one token.
    static let maximumKeys = 12

    /// How old keys may be that verify a refreshed token while the provider is unreachable: it may have withdrawn them.
    private static var oldestKeys: Duration { .seconds(86_400) }

    /// - Parameter isSignIn: if true, keys are used only as long as the provider allows them to be cached, and a
    ///   provider that fails for a moment is asked again: the code is spent, so the person would have to begin anew.
    func verify(
        _ token: CompactToken, algorithm: SignatureAlgorithm, of issuer: IssuerRule, keysAt place: DocumentPlace,
        isSignIn: Bool
    ) async throws(ProviderError) {
        do throws(ProviderError) {
            try await verifyOnce(token, algorithm, of: issuer, keysAt: place, isSignIn: isSignIn)
        } catch {
            guard isSignIn, await SecondTry.follows(error, by: documents.clock) else { throw error }
            try await verifyOnce(token, algorithm, of: issuer, keysAt: place, isSignIn: isSignIn)
        }
    }

    private func verifyOnce(
        _ token: CompactToken, _ algorithm: SignatureAlgorithm, of issuer: IssuerRule, keysAt place: DocumentPlace,
        isSignIn: Bool
    ) async throws(ProviderError) {
        let reading = keySetReading(place.url)
        let staleness = DocumentCache<KeySet>.Staleness.atMost(isSignIn ? .zero : Self.oldestKeys)
        let document = try await documents.document(at: place, staleness: staleness, reading: reading)
        if isSigned(token, algorithm, issuer, by: document.content) { return }
        let renewed: DocumentCache<KeySet>.Document
        if documents.isCurrent(document, at: place),
            let answer = try await documents.renewedDocument(at: place, reading: reading)
        {
            renewed = answer
        } else {
            // Another task has fetched them, perhaps just now.
            renewed = try await documents.document(at: place, staleness: staleness, reading: reading)
        }
        guard renewed.source != document.source, isSigned(token, algorithm, issuer, by: renewed.content) else {
            throw Self.wrongSignature
        }
    }

    private func keySetReading(_ url: WebURL) -> DocumentCache<KeySet>.Reading {
        { (document) throws(ProviderError) in
            if let keys = KeySet(document) { return keys }
            throw .invalidResponse(
                status: nil, "The keys of the provider \(url.server) are not a JWK set. Ask the provider's operator.")
        }
    }

    private func isSigned(
        _ token: CompactToken, _ algorithm: SignatureAlgorithm, _ issuer: IssuerRule, by keys: KeySet
    ) -> Bool {
        let (named, tenant) = (token.claims["iss"]?.exactText, token.claims["tid"]?.stringValue)
        return keys.candidates(id: token.keyID, algorithm: algorithm)
            .filter { issuer.takesKey(of: $0.issuer, for: named, tenant: tenant) }
            .prefix(Self.maximumKeys)
            .contains { $0.verifies(token.signature, of: token.signed, with: algorithm) }
    }

    private static let wrongSignature = ProviderError.invalidResponse(
        status: nil,
        "The ID token is not signed with a key that the provider publishes. Sign in again; if this persists, ask "
            + "the provider's operator.")
}
