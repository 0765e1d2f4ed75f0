import DevIdentityProvider

extension DevIdentityProvider {
    /// A provider that ends with the test. It accepts any client by default.
    package static func start(
        _ options: ProviderOptions = ProviderOptions(), in bed: TestBed,
        _ change: (inout ProviderOptions) -> Void = { _ in }
    ) async throws -> RunningProvider {
        var options = options
        options.allowsAnyClient = true
        change(&options)
        let provider = try await start(options)
        bed.atEnd { await provider.stop() }
        return provider
    }
}

extension RunningProvider {
    /// Follows an authorization request on the provider's pages until the redirect to the application.
    package func signIn(_ person: Person, at url: String, in bed: TestBed) async throws -> ProviderRedirect {
        try await FormBrowser(session: HTTPSession(in: bed), home: origin).visit(url) { form in
            guard form.fields["password"] != nil else { return form.press(named: "decision") }
            form.fields["username"] = person.name
            form.fields["password"] = person.password
        }
    }

    /// The number of refresh requests, answered or not.
    package var refreshes: Int { log.count { $0.endpoint == .token && $0.grantType == "refresh_token" } }
}
