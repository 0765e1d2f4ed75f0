import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.…`: params to the engine's requests, tokens to answers.
struct TokenHandlers: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] { [silent, interactive, deviceCode] }

    /// The hot path: a token that is in the cache is answered before this returns, on the event loop.
    private var silent: Route {
        Route(method: AcquireTokenSilent.self) { call, context, writer in
            let admitted: AdmittedRequest<AcquireTokenSilent>
            do throws(RPCError) { admitted = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            let correlationID = admitted.params.correlationId ?? CorrelationID.make()
            let request: SilentRequest
            do throws(BrokerError) {
                request = try silentRequest(admitted.params, context.caller, correlationID)
            } catch {
                admitted.fail(error, correlationID: correlationID, &writer)
                return .answered
            }
            if let token = services.broker.cached(request) {
                answer(token, to: admitted, correlationID, &writer)
                return .answered
            }
            return .waits { writer in
                do throws(BrokerError) {
                    let token = try await services.broker.acquireSilent(request)
                    answer(token, to: admitted, correlationID, &writer)
                } catch {
                    admitted.fail(error, correlationID: correlationID, &writer)
                }
            }
        }
    }

    private var interactive: Route {
        Route(method: AcquireTokenInteractive.self) { call, context, writer in
            let admitted: AdmittedRequest<AcquireTokenInteractive>
            do throws(RPCError) { admitted = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            let correlationID = admitted.params.correlationId ?? CorrelationID.make()
            let request: InteractiveRequest
            do throws(BrokerError) {
                request = try interactiveRequest(admitted.params, context.caller, correlationID)
            } catch {
                admitted.fail(error, correlationID: correlationID, &writer)
                return .answered
            }
            return .waits { writer in
                do throws(BrokerError) {
                    let token = try await services.broker.acquireInteractive(
                        request, onOpen: { context.notify(InteractionOpen.self, InteractionOpen.Params($0)) },
                        onJoin: { context.notify(InteractionJoined.self, InteractionJoined.Params($0)) })
                    answer(token, to: admitted, correlationID, &writer)
                } catch {
                    admitted.fail(error, correlationID: correlationID, &writer)
                }
            }
        }
    }

    private var deviceCode: Route {
        Route(method: AcquireTokenByDeviceCode.self) { call, context, writer in
            let admitted: AdmittedRequest<AcquireTokenByDeviceCode>
            do throws(RPCError) { admitted = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            let correlationID = admitted.params.correlationId ?? CorrelationID.make()
            let request: DeviceCodeRequest
            do throws(BrokerError) {
                request = try deviceCodeRequest(admitted.params, context.caller, correlationID)
            } catch {
                admitted.fail(error, correlationID: correlationID, &writer)
                return .answered
            }
            return .waits { writer in
                do throws(BrokerError) {
                    let token = try await services.broker.acquireByDeviceCode(request) { opening in
                        context.notify(InteractionDeviceCode.self, InteractionDeviceCode.Params(opening))
                    }
                    answer(token, to: admitted, correlationID, &writer)
                } catch {
                    admitted.fail(error, correlationID: correlationID, &writer)
                }
            }
        }
    }

    private func answer<M: BrokerMethod>(
        _ token: AcquiredToken, to request: AdmittedRequest<M>, _ correlationID: String, _ writer: inout JSONWriter
    ) {
        guard let id = request.id else { return }
        let start = writer.bytes.count
        writer.beginResult(id: id)
        do throws(VaultError) {
            try writer.token(token, correlationID: correlationID, from: services.vault)
            writer.endAnswer()
        } catch {
            writer.truncate(to: start)
            request.fail(BrokerError(error), correlationID: correlationID, &writer)
        }
    }

    // MARK: Params to requests

    private func silentRequest(
        _ params: AcquireTokenSilent.Params, _ caller: Caller, _ correlationID: String
    ) throws(BrokerError) -> SilentRequest {
        var request = SilentRequest(
            partition: caller.partition, app: try app(params, caller), scopes: Scopes(params.scopes),
            correlationID: correlationID)
        request.account = params.account?.selector
        request.authority = try overridingAuthority(params)
        request.isInstanceAware = try CloudRules.isInstanceAware(asked: params.instanceAware, for: request.app)
        request.claims = params.claims?.json
        request.forceRefresh = params.forceRefresh
        request.minimumLifetime = params.minimumLifetime
        request.tokenType = params.tokenType
        request.resources = params.resource?.uris ?? []
        request.clientCapabilities = params.clientCapabilities
        return request
    }

    private func interactiveRequest(
        _ params: AcquireTokenInteractive.Params, _ caller: Caller, _ correlationID: String
    ) throws(BrokerError) -> InteractiveRequest {
        var request = InteractiveRequest(
            partition: caller.partition, app: try app(params, caller), scopes: Scopes(params.scopes),
            correlationID: correlationID)
        request.account = params.account?.selector
        request.authority = try overridingAuthority(params)
        request.isInstanceAware = try CloudRules.isInstanceAware(asked: params.instanceAware, for: request.app)
        request.claims = params.claims?.json
        request.minimumLifetime = params.minimumLifetime
        request.tokenType = params.tokenType
        request.resources = params.resource?.uris ?? []
        request.clientCapabilities = params.clientCapabilities
        request.loginHint = params.loginHint
        request.domainHint = params.domainHint
        request.prompt = params.prompt
        request.extraScopesToConsent = Scopes(params.extraScopesToConsent)
        request.extraQueryParameters = params.extraQueryParameters
        request.maxAge = params.maxAge
        request.acrValues = params.acrValues
        request.isHintBinding = params.strictLoginHint
        request.pushesAuthorization = params.pushedAuthorization
        request.redirectURI = params.redirectUri
        request.presentation = params.presentation
        request.timeout = params.timeout
        return request
    }

    private func deviceCodeRequest(
        _ params: AcquireTokenByDeviceCode.Params, _ caller: Caller, _ correlationID: String
    ) throws(BrokerError) -> DeviceCodeRequest {
        var request = DeviceCodeRequest(
            partition: caller.partition, app: try app(params, caller), scopes: Scopes(params.scopes),
            correlationID: correlationID)
        request.authority = try overridingAuthority(params)
        request.claims = params.claims?.json
        request.tokenType = params.tokenType
        request.resources = params.resource?.uris ?? []
        request.clientCapabilities = params.clientCapabilities
        request.timeout = params.timeout
        return request
    }

    private func app(_ params: some AppSelecting, _ caller: Caller) throws(BrokerError) -> AppRegistration {
        guard let selection = params.selection else { throw AppReference.missing }
        return try services.policy.admit(caller, as: AppReference(selection))
    }

    /// Beside `clientId` the authority is the app's own.
    private func overridingAuthority(_ params: some AppSelecting) throws(BrokerError) -> Authority? {
        guard params.app != nil, let text = params.authority else { return nil }
        return try services.policy.authority(text)
    }
}
