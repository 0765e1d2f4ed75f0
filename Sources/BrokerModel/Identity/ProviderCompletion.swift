/// What an administrator says about a provider that it does not say itself: completes its metadata.
package struct ProviderCompletion: Sendable, Equatable {
    /// By the name that RFC 8414 has for it, such as `token_endpoint`; comes before what the provider's document says.
    package var endpoints: [String: String] = [:]
    /// How a token's destination is called in requests; nil means the standard's `resource`.
    package var resourceParameter: String?

    package init() {}
}

/// The administrator's words on providers: an authority's own first, then those on its whole host.
package struct ProviderCompletions: Sendable, Equatable {
    /// By ``Authority/url``.
    private var entries: [String: ProviderCompletion]

    package init(_ entries: [String: ProviderCompletion] = [:]) { self.entries = entries }

    package subscript(authority: Authority) -> ProviderCompletion {
        entries[authority.url] ?? entries[authority.canonicalHostURL] ?? ProviderCompletion()
    }
}
