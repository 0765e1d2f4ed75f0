import Hummingbird

extension Provider {
    func routes() -> Router<ProviderContext> {
        let router = Router(context: ProviderContext.self)
        router.add(middleware: IntakeMiddleware(provider: self))
        router.add(middleware: FaultMiddleware(provider: self))
        router.add(middleware: RefusalMiddleware(provider: self))
        addControl(to: router)
        addPages(to: router.group(RouterPath(options.issuerPath)))
        addEndpoints(to: router.group(RouterPath(flavor.realmPath)), flavor.paths)
        switch options.flavor {
        case .openID:
            // RFC 8414, section 3.1, puts the well-known part before the issuer's path; OpenID Connect after it.
            router.get("/.well-known/oauth-authorization-server\(options.issuerPath)") { _, context in
                try self.metadata(context)
            }
        case .entra:
            // The router prefers a literal segment and does not backtrack, so this route is registered below `:tenant`, too.
            router.get(RouterPath(flavor.realmPath + EntraFlavor.instancePath)) { _, context in
                try self.instanceDiscovery(context)
            }
            router.get("/v1.0/me") { request, _ in try await self.graphUser(request) }
        }
        return router
    }

    private func addEndpoints(to router: RouterGroup<ProviderContext>, _ paths: EndpointPaths) {
        func path(_ text: String) -> RouterPath { RouterPath(text) }
        router.get(path(paths.discovery)) { _, context in try self.metadata(context) }
        router.get(path(paths.keys)) { _, _ in try self.publishedKeys() }
        router.get(path(paths.authorize)) { request, context in try self.authorize(request, context) }
        router.post(path(paths.authorize)) { request, context in try self.authorize(request, context) }
        router.post(path(paths.token)) { request, context in try self.token(request, context) }
        router.get(path(paths.userInfo)) { request, _ in try await self.userInfo(request) }
        router.post(path(paths.userInfo)) { request, _ in try await self.userInfo(request) }
        router.get(path(paths.endSession)) { request, context in self.endSession(request, context) }
        router.post(path(paths.endSession)) { request, context in self.endSession(request, context) }
        router.post(path(paths.deviceAuthorization)) { request, context in
            try self.authorizeDevice(request, context)
        }
        if let revoke = paths.revoke {
            router.post(path(revoke)) { request, context in try self.revoke(request, context) }
        }
        if let push = paths.push {
            router.post(path(push)) { request, context in try self.push(request, context) }
        }
        if let introspect = paths.introspect {
            router.post(path(introspect)) { request, context in try self.introspect(request, context) }
        }
        if let register = paths.register {
            router.post(path(register)) { request, context in try await self.register(request, context) }
        }
    }

    private func addPages(to router: RouterGroup<ProviderContext>) {
        router.post("/login") { request, context in try self.signIn(request, context) }
        router.post("/choose") { request, context in try self.choose(request, context) }
        router.post("/create") { request, context in try self.createAccount(request, context) }
        router.post("/consent") { request, context in try self.consent(request, context) }
        router.post("/cancel") { request, context in self.cancel(request, context) }
        router.get("/device") { request, context in try self.enterDeviceCode(request, context) }
        router.post("/device") { request, context in try self.enterDeviceCode(request, context) }
    }
}
