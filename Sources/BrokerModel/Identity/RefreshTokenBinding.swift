extension AppRegistration {
    /// Whether a sign-in of the app has its refresh token bound to a key, regardless of the requested token type (decision 14).
    /// The registration takes precedence over the provider's metadata.
    package func bindsRefreshToken(at metadata: ProviderMetadata) -> Bool {
        description.bindRefreshToken ?? (metadata.bindsRefreshTokens && metadata.takesProofs)
    }
}

extension ProviderMetadata {
    /// Whether the provider accepts the kind of proofs that the broker makes (RFC 9449, section 5.1).
    package var takesProofs: Bool { self.dpopAlgorithms?.contains("ES256") == true }
}
