import BrokerModel
import BrokerValues
import Foundation
import Synchronization

/// An OpenID provider in this process, on loopback: correct by default, and wrong in any way that a test scripts.
///
///     let provider = try await ScriptedProvider.start()
///     provider.on(.token) { _ in .empty(400) }
///     …
///     await provider.stop()
///
/// A script that returns `nil` selects the normal behavior.
package final class ScriptedProvider: Sendable {
    package enum Endpoint: String, Sendable, CaseIterable {
        case discovery = "/.well-known/openid-configuration"
        case authorizationServerMetadata = "/.well-known/oauth-authorization-server"
        case keys = "/jwks"
        case authorize = "/authorize"
        case token = "/token"
        case userinfo = "/userinfo"
    }

    package typealias Script = @Sendable (ProviderRequest) async -> ProviderAnswer?

    let state: Mutex<ScriptedProviderState>
    private let server: Mutex<LoopbackServer?>
    let now: @Sendable () -> NumericDate

    private init(identity: SigningIdentity, now: @escaping @Sendable () -> NumericDate) {
        state = Mutex(ScriptedProviderState(identity: identity))
        server = Mutex(nil)
        self.now = now
    }

    /// - Parameters:
    ///   - kind: how ID tokens are signed.
    ///   - now: the provider's clock; pass the test's own if that is not the system's.
    package static func start(
        _ kind: SigningIdentity.Kind = .es256,
        now: @escaping @Sendable () -> NumericDate = { NumericDate(Date().timeIntervalSince1970) }
    ) async throws -> ScriptedProvider {
        let provider = ScriptedProvider(identity: try .make(kind), now: now)
        let server = try await LoopbackServer.start { [weak provider] request in
            await provider?.answer(request) ?? .close
        }
        provider.server.withLock { $0 = server }
        return provider
    }

    /// A provider that ends with the test.
    package static func start(in bed: TestBed) async throws -> ScriptedProvider {
        let provider = try await start()
        bed.atEnd { await provider.stop() }
        return provider
    }

    package func stop() async { await server.withLock { $0 }?.stop() }

    /// Closes kept connections, as a server may do at any time.
    package func dropConnections() async { await server.withLock { $0 }?.dropConnections() }

    package var connections: Int { server.withLock { $0?.connections ?? 0 } }
    package var port: Int { server.withLock { $0?.port ?? 0 } }
    package var issuer: String { server.withLock { $0?.url ?? "" } }

    package var authority: Authority {
        get throws { try Authority(parsing: issuer, allowHTTPLoopback: true) }
    }

    // MARK: Scripts

    /// Scripts an endpoint from now on.
    package func on(_ endpoint: Endpoint, _ script: @escaping Script) {
        state.withLock { $0.scripts[endpoint.rawValue] = script }
    }

    /// Scripts any other path from now on.
    package func on(path: String, _ script: @escaping Script) {
        state.withLock { $0.scripts[path] = script }
    }

    /// Restores the normal behavior.
    package func behave(at endpoint: Endpoint) {
        state.withLock { $0.scripts[endpoint.rawValue] = nil }
    }

    /// Every request so far, in the order of arrival.
    package var requests: [ProviderRequest] { state.withLock { $0.log } }

    package func requests(to endpoint: Endpoint) -> [ProviderRequest] {
        requests.filter { $0.path == endpoint.rawValue }
    }

    // MARK: Behavior

    /// Changes lifetimes, claims, published documents and so on.
    package func configure(_ change: @Sendable (inout Behaviour) -> Void) {
        state.withLock { change(&$0.behaviour) }
    }

    package struct Behaviour: Sendable {
        package var accessTokenLifetime: Int64 = 3600
        package var idTokenLifetime: Int64 = 3600
        package var rotatesRefreshTokens = true
        package var issuesRefreshTokens = true
        package var issuesIDTokens = true
        /// Replaces the requested scopes.
        package var grantedScope: String?
        /// Replaces, or adds to, the claims of an ID token; null removes one.
        package var claims: JSONObject = [:]
        /// Replaces, or adds to, the fields of the discovery document; null removes one.
        package var metadata: JSONObject = [:]
        package var clientSecret: String?
    }

    /// Creates new signing keys; the old ones are gone, or still published next to the new.
    package func rotateKeys(to identity: SigningIdentity, keepingOld: Bool = false) {
        state.withLock { state in
            state.published = (keepingOld ? state.published : []) + [identity.jwk]
            state.identity = identity
        }
    }

    /// The current signing key.
    package var identity: SigningIdentity { state.withLock { $0.identity } }

    /// The number of refresh tokens that were used.
    package var refreshes: Int { state.withLock { $0.refreshes } }

    private func answer(_ request: ProviderRequest) async -> ProviderAnswer {
        let script = state.withLock { state in
            state.log.append(request)
            return state.scripts[request.path]
        }
        if let answer = await script?(request) { return answer }
        return normalAnswer(to: request)
    }
}
