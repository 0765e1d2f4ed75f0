extension AppRegistration {
    /// Whether a sign-in of the app has its refresh token bound to a key, whatever type of token is asked for (decision 165).
    /// The registration comes first, then what is known of the provider.
    package func bindsRefreshToken(at metadata: ProviderMetadata) -> Bool {
        description.bindRefreshToken ?? (metadata.bindsRefreshTokens && metadata.takesProofs)
    }
}

extension ProviderMetadata {
    /// Whether the provider says that it takes proofs of the kind that the broker makes (RFC 9449, section 5.1).
    package var takesProofs: Bool { self.dpopAlgorithms?.contains("ES256") == true }
}
