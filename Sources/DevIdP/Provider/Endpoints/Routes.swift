import Hummingbird

extension Provider {
    func routes() -> Router<ProviderContext> {
        let router = Router(context: ProviderContext.self)
        router.add(middleware: IntakeMiddleware(provider: self))
        router.add(middleware: FaultMiddleware(provider: self))

        // RFC 8414, section 3.1, puts the well-known part in front of the issuer's path; OpenID Connect behind it.
        router.get("/.well-known/oauth-authorization-server\(options.issuerPath)") { _, _ in try self.metadata() }
        addControl(to: router)

        let issuer = router.group(RouterPath(options.issuerPath))
        issuer.get("/.well-known/openid-configuration") { _, _ in try self.metadata() }
        issuer.get("/jwks") { _, _ in try self.publishedKeys() }
        issuer.get("/authorize") { request, context in try await self.authorize(request, context) }
        issuer.post("/authorize") { request, context in try await self.authorize(request, context) }
        issuer.post("/login") { request, context in try await self.signIn(request, context) }
        issuer.post("/choose") { request, context in try await self.choose(request, context) }
        issuer.post("/consent") { request, context in try await self.consent(request, context) }
        issuer.post("/cancel") { request, context in self.cancel(request, context) }
        issuer.post("/token") { request, context in try await self.token(request, context) }
        issuer.get("/userinfo") { request, _ in try await self.userInfo(request) }
        issuer.post("/userinfo") { request, _ in try await self.userInfo(request) }
        issuer.post("/revoke") { request, context in try self.revoke(request, context) }
        issuer.get("/logout") { request, context in await self.endSession(request, context) }
        issuer.post("/logout") { request, context in await self.endSession(request, context) }
        return router
    }
}
