/// The administrator's additions to a provider's metadata.
package struct MetadataOverride: Sendable, Equatable {
    /// By their names in RFC 8414, such as `token_endpoint`; they override the provider's document.
    package var endpoints: [String: String] = [:]
    /// The request parameter for a token's resource; `nil` means the standard's `resource`.
    package var resourceParameter: String?
    /// Whether requests ask for `offline_access`; `nil` uses the provider's metadata.
    package var takesOfflineAccess: Bool?

    package init() {}
}

/// The administrator's settings for providers: an authority's own first, then those for its whole host.
package struct MetadataOverrides: Sendable, Equatable {
    /// By ``Authority/url``.
    private var entries: [String: MetadataOverride]

    package init(_ entries: [String: MetadataOverride] = [:]) { self.entries = entries }

    package subscript(authority: Authority) -> MetadataOverride {
        entries[authority.url] ?? entries[authority.canonicalHostURL] ?? MetadataOverride()
    }
}
