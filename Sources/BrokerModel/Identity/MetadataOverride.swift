/// What an administrator says about a provider that it does not say itself: completes its metadata.
package struct MetadataOverride: Sendable, Equatable {
    /// By the name that RFC 8414 has for it, such as `token_endpoint`; comes before what the provider's document says.
    package var endpoints: [String: String] = [:]
    /// How a token's destination is called in requests; nil means the standard's `resource`.
    package var resourceParameter: String?
    /// Whether `offline_access` is asked for; nil leaves it to the provider's metadata.
    package var takesOfflineAccess: Bool?

    package init() {}
}

/// The administrator's words on providers: an authority's own first, then those on its whole host.
package struct MetadataOverrides: Sendable, Equatable {
    /// By ``Authority/url``.
    private var entries: [String: MetadataOverride]

    package init(_ entries: [String: MetadataOverride] = [:]) { self.entries = entries }

    package subscript(authority: Authority) -> MetadataOverride {
        entries[authority.url] ?? entries[authority.canonicalHostURL] ?? MetadataOverride()
    }
}
