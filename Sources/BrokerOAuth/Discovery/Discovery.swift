import BrokerModel
import BrokerValues
import Synchronization

/// Finds a provider's metadata (OpenID Connect Discovery 1.0, section 4; RFC 8414, section 3).
final class Discovery: Sendable {
    private let documents: DocumentCache<DiscoveryDocument>
    /// Authorities that have only the document of RFC 8414, so that the other is not asked for every time.
    private let withoutOpenID = Mutex(FairCache<String, Authority, Bool>(limit: 256))

    private let completions: Mutex<MetadataOverrides>

    init(documents: DocumentCache<DiscoveryDocument>, completions: MetadataOverrides) {
        self.documents = documents
        self.completions = Mutex(completions)
    }

    /// Cached documents are completed anew each time they are requested.
    func apply(_ completions: MetadataOverrides) { self.completions.withLock { $0 = completions } }

    private func completion(of authority: Authority) -> MetadataOverride {
        completions.withLock { $0[authority] }
    }

    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        do throws(ProviderError) {
            return try await discovered(authority)
        } catch .invalidResponse(status: let status?, let why) {
            let completion = completion(of: authority)
            guard !authority.rules.alwaysHasOpenIDDocument, completion.describesWholeProvider else {
                throw .invalidResponse(status: status, why)
            }
            return try MetadataReader.metadata(
                in: DiscoveryDocument(["issuer": .string(authority.url)]), of: authority, completedBy: completion)
        }
    }

    /// An answer that is not a document means that there is none, regardless of its status: not every server uses 404. Some
    /// refuse unknown paths (400, 401, 403, 405), redirect them to a sign-in, or answer with a page (200).
    private func discovered(_ authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        guard !authority.rules.alwaysHasOpenIDDocument else {
            return try await metadata(at: WellKnown.openIDConfiguration(of: authority), of: authority)
        }
        rememberEarlierRun(authority)
        if withoutOpenID.withLock({ $0.use(authority) }) == true {
            do throws(ProviderError) {
                return try await metadata(at: WellKnown.authorizationServer(of: authority), of: authority)
            } catch .invalidResponse(status: _?, _) {
                withoutOpenID.withLock { _ = $0.remove(authority) }
            }
        }
        do throws(ProviderError) {
            return try await metadata(at: WellKnown.openIDConfiguration(of: authority), of: authority)
        } catch .invalidResponse(status: let status?, let why) {
            do throws(ProviderError) {
                let metadata = try await metadata(at: WellKnown.authorizationServer(of: authority), of: authority)
                noteWithoutOpenID(authority)
                return metadata
            } catch .invalidResponse(status: _?, _) {
                // The first address is the best known one.
                throw .invalidResponse(status: status, why)
            }
        }
    }

    /// Asks the provider for its metadata although the cached one is fresh, because one of its endpoints is gone: at most
    /// once a minute, or again after a failure.
    ///
    /// - Returns: `nil` if the provider does not answer, or has answered within the last minute.
    func renewedMetadata(of authority: Authority) async -> ProviderMetadata? {
        let rule = EndpointRule(authority: authority)
        let addresses = [WellKnown.openIDConfiguration(of: authority), WellKnown.authorizationServer(of: authority)]
        let places = addresses.compactMap { rule.accepted($0).map { DocumentPlace($0, of: authority) } }
        guard let place = places.first(where: { documents.has($0) }) else { return nil }
        let completion = completion(of: authority)
        do throws(ProviderError) {
            let document = try await documents.renewedDocument(at: place) { (object) throws(ProviderError) in
                let document = DiscoveryDocument(object)
                _ = try MetadataReader.metadata(in: document, of: authority, completedBy: completion)
                return document
            }
            guard let document else { return nil }
            return try MetadataReader.metadata(in: document.content, of: authority, completedBy: completion)
        } catch {
            return nil
        }
    }

    private func metadata(at address: String, of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        guard let url = EndpointRule(authority: authority).accepted(address) else {
            throw .invalidResponse(
                status: nil, "The authority \(authority.url) is not a usable URL. Check its spelling.")
        }
        let completion = completion(of: authority)
        let document = try await documents.document(at: DocumentPlace(url, of: authority)) {
            (object) throws(ProviderError) in
            let document = DiscoveryDocument(object)
            _ = try MetadataReader.metadata(in: document, of: authority, completedBy: completion)
            return document
        }
        return try MetadataReader.metadata(in: document.content, of: authority, completedBy: completion)
    }
}

extension Discovery {
    /// After a start without network the cached document must be found, whichever of the two it is.
    private func rememberEarlierRun(_ authority: Authority) {
        let rule = EndpointRule(authority: authority)
        func has(_ address: String) -> Bool? {
            rule.accepted(address).map { documents.has(DocumentPlace($0, of: authority)) }
        }
        guard has(WellKnown.openIDConfiguration(of: authority)) == false,
            has(WellKnown.authorizationServer(of: authority)) == true
        else { return }
        noteWithoutOpenID(authority)
    }

    private func noteWithoutOpenID(_ authority: Authority) {
        withoutOpenID.withLock { known in
            known.keep(true, for: authority, of: authority.environment)
            known.makeRoom()
        }
    }
}

extension MetadataOverride {
    /// Enough for a provider that publishes no document at all.
    fileprivate var describesWholeProvider: Bool {
        ["authorization_endpoint", "token_endpoint", "jwks_uri"].allSatisfy { endpoints[$0] != nil }
    }
}
