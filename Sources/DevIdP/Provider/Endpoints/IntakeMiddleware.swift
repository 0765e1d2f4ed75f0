import Hummingbird
import NIOCore

/// Reads a request's parameters and refuses requests for other hosts.
struct IntakeMiddleware: RouterMiddleware {
    let provider: Provider
    private static let maximumBody = 64 << 10

    func handle(
        _ request: Request, context: ProviderContext, next: (Request, ProviderContext) async throws -> Response
    ) async throws -> Response {
        // A page of another origin can reach loopback through a name that it points here (DNS rebinding).
        guard provider.isOwnHost(request.head.authority) else {
            return plain(.misdirectedRequest, "This provider answers under its own loopback address only.\n")
        }
        var request = request
        var context = context
        context.correlationID = request.headers.first { $0.name.canonicalName == "client-request-id" }?.value
        if request.method == .post {
            let body: ByteBuffer
            do { body = try await request.collectBody(upTo: Self.maximumBody) } catch is NIOTooManyBytesError {
                return plain(.contentTooLarge, "The request is too large.\n")
            }
            if request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true {
                context.form = FormValues(urlEncoded: String(buffer: body))
            }
        } else {
            context.form = FormValues(urlEncoded: request.uri.query ?? "")
        }
        return try await next(request, context)
    }
}

/// Answers a refused request as JSON, in the provider's format.
struct RefusalMiddleware: RouterMiddleware {
    let provider: Provider

    func handle(
        _ request: Request, context: ProviderContext, next: (Request, ProviderContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let failure as OAuthFailure {
            return try provider.refusal(failure, context)
        }
    }
}
