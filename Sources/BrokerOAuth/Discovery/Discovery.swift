import BrokerModel
import Synchronization

/// Finds a provider's metadata (OpenID Connect Discovery 1.0, section 4; RFC 8414, section 3).
final class Discovery: Sendable {
    private let documents: DocumentCache
    /// Authorities that have only the document of RFC 8414, so that the other is not asked for every time.
    private let withoutOpenID = Mutex<Set<Authority>>([])

    init(documents: DocumentCache) { self.documents = documents }

    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        if withoutOpenID.withLock({ $0.contains(authority) }) {
            do throws(ProviderError) {
                return try await metadata(at: WellKnown.authorizationServer(of: authority), of: authority)
            } catch .invalidResponse(status: 404, _) {
                withoutOpenID.withLock { _ = $0.remove(authority) }
            }
        }
        do throws(ProviderError) {
            return try await metadata(at: WellKnown.openIDConfiguration(of: authority), of: authority)
        } catch .invalidResponse(status: 404, let why) {
            do throws(ProviderError) {
                let metadata = try await metadata(at: WellKnown.authorizationServer(of: authority), of: authority)
                withoutOpenID.withLock { _ = $0.insert(authority) }
                return metadata
            } catch .invalidResponse(status: 404, _) {
                // The first address is the one that people know.
                throw .invalidResponse(status: 404, why)
            }
        }
    }

    private func metadata(at address: String, of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        guard let url = EndpointRule(authority: authority).accepted(address) else {
            throw .invalidResponse(
                status: nil, "The authority \(authority.url) is no address that can be asked. Check its spelling.")
        }
        let document = try await documents.document(at: url) { (object) throws(ProviderError) in
            _ = try MetadataReader.metadata(in: object, of: authority)
        }
        return try MetadataReader.metadata(in: JSONReading.object(document.body) ?? [:], of: authority)
    }
}
