import BrokerModel
import BrokerValues
import CSignatures

/// An ID token that is authenticated with the client's secret instead of a published key (OpenID Connect Core, section
/// 10.1).
enum SharedSecretSignature {
    static let algorithm = "HS256"

    /// Only if the provider's metadata says so: no other party may choose the weaker method.
    static func isOffered(by metadata: ProviderMetadata) -> Bool {
        metadata.idTokenAlgorithms?.contains(algorithm) ?? false
    }

    static func isValid(_ token: CompactToken, by clientSecret: Secret) -> Bool {
        guard token.algorithmName == algorithm, !clientSecret.isEmpty else { return false }
        return clientSecret.withBytes { key in
            token.signature.withOctets { signature in
                token.signed.withOctets { broker_hs256_is_valid(broker_octets(key), signature, $0) }
            }
        }
    }
}
