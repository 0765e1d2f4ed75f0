import Hummingbird
import NIOCore

/// Logs every request and applies the planned faults.
struct FaultMiddleware: RouterMiddleware {
    let provider: Provider

    func handle(
        _ request: Request, context: ProviderContext, next: (Request, ProviderContext) async throws -> Response
    ) async throws -> Response {
        let endpoint = provider.endpoint(of: request.uri.path)
        guard endpoint != .control else { return try await next(request, context) }
        let tenant = provider.tenant(of: request.uri.path)
        let (fault, removals) = provider.faults.withLock { ($0.take(for: endpoint, at: tenant), $0.removals) }
        let form = context.form
        let opened = LogEntry(
            sequence: 0, time: provider.now(), method: request.method.rawValue, endpoint: endpoint,
            grantType: form["grant_type"], clientID: form["client_id"], scope: form["scope"], prompt: form["prompt"],
            loginHint: form["login_hint"], domainHint: form["domain_hint"], claims: form["claims"],
            tenant: tenant, fault: fault?.kind)
        let entry = provider.log.withLock { $0.open(opened) }
        if fault?.isHeld == true {
            while provider.faults.withLock({ $0.removals == removals }) { try await Task.sleep(for: .milliseconds(5)) }
        }
        let response = try await answer(request, context: context, fault: fault, next: next)
        provider.log.withLock { $0.close(entry, status: response.status.code) }
        return response
    }

    private func answer(
        _ request: Request, context: ProviderContext, fault: Fault?,
        next: (Request, ProviderContext) async throws -> Response
    ) async throws -> Response {
        guard let fault else { return try await next(request, context) }
        switch fault.kind {
        case .status:
            return fault.response(status: 503)
        case .refuse:
            let failure = OAuthFailure(
                OAuthFailure.Code(rawValue: fault.error ?? "") ?? .invalidGrant, "This was ordered.",
                .ordered(number: fault.number, subError: fault.subError))
            return try provider.refusal(failure, context)
        case .html:
            return fault.response(
                status: 200, contentType: "text/html; charset=utf-8",
                body: "<!doctype html><title>Maintenance</title><h1>We will be back soon</h1>")
        case .garbage:
            return fault.response(status: 200, contentType: "application/json", body: "{\"access_token\": nonsense]")
        case .empty400:
            return Response(status: .badRequest)
        case .hang:
            try await Task.sleep(for: .seconds(fault.delay ?? 3600))
            throw await context.closeConnection()
        case .slow:
            try await Task.sleep(for: .seconds(fault.delay ?? 1))
            return try await next(request, context)
        case .reset:
            throw await context.resetConnection()
        case .drop:
            _ = try await next(request, context)
            throw await context.closeConnection()
        case .truncate:
            return try await next(request, context).truncated(closing: context)
        case .huge:
            return try await next(request, context).padded(by: 2 << 20)
        case .trickle:
            return try await next(request, context).trickling(for: .seconds(fault.delay ?? 10))
        }
    }
}

extension Fault {
    fileprivate func response(status fallback: Int, contentType: String? = nil, body: String? = nil) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = self.contentType ?? contentType ?? "text/plain; charset=utf-8"
        headers[.location] = location
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        return Response(
            status: .init(code: status ?? fallback), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: self.body ?? body ?? "")))
    }
}

extension Response {
    /// Keeps the announced length but ends in the middle of it.
    fileprivate func truncated(closing context: ProviderContext) async throws -> Response {
        let whole = try await collectedBody()
        return Response(
            status: status, headers: headers,
            body: ResponseBody(contentLength: whole.readableBytes) { writer in
                try await writer.write(whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer())
                throw await context.closeConnection()
            })
    }

    /// White space before a JSON text is valid, so only the size is wrong.
    fileprivate func padded(by count: Int) async throws -> Response {
        var body = ByteBuffer(repeating: UInt8(ascii: " "), count: count)
        body.writeImmutableBuffer(try await collectedBody())
        var headers = headers
        headers[.contentLength] = nil
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// A megabyte of white space comes before it, in pieces. If the client disconnects, writing the next piece fails.
    fileprivate func trickling(for time: Duration) async throws -> Response {
        let whole = try await collectedBody()
        let pieces = 64
        var headers = headers
        headers[.contentLength] = nil
        return Response(
            status: status, headers: headers,
            body: ResponseBody { writer in
                for _ in 0..<pieces {
                    try await writer.write(ByteBuffer(repeating: UInt8(ascii: " "), count: (1 << 20) / pieces))
                    try await Task.sleep(for: time / pieces)
                }
                try await writer.write(whole)
                try await writer.finish(nil)
            })
    }

    private func collectedBody() async throws -> ByteBuffer {
        let collector = BodyCollector()
        try await body.write(collector)
        return collector.buffer
    }
}
