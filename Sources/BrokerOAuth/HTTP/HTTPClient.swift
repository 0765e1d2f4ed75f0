import BrokerModel
import BrokerValues
import Synchronization

/// The broker's only network access: HTTP over libcurl, on a thread of its own.
///
/// Connections are kept and shared by the requests of one issuer, HTTP/2 is used where the server speaks it, answers are bounded while
/// they stream, redirects are not followed, certificates are always verified.
///
/// Construct one per process and pass it to everything that needs HTTP; call ``shutdown()`` at the end, after the engine
/// has drained. A client that is released without it also ends its thread, but nothing waits for that.
package final class HTTPClient: HTTPTransport {
    private let loop: CurlLoop
    private let lastID = Atomic<UInt64>(0)

    /// Reads the CA file and starts the thread.
    package init(configuration: HTTPClientConfiguration) throws(HTTPClientError) {
        let authorities = try AuthoritiesInForce(configuration)
        loop = try CurlLoop(settings: TransferSettings(configuration: configuration, authorities: authorities))
    }

    deinit { loop.stop() }

    package func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
        guard let url = WebURL(request.url), !url.hasFragment else {
            throw HTTPFailure(.notAllowed, mayHaveBeenSent: false, "the address is not an http or https URL")
        }
        guard url.isSafeToRequest else {
            throw HTTPFailure(
                .notAllowed, mayHaveBeenSent: false,
                "\(url.server) would be reached without TLS, which is for loopback only")
        }
        guard request.headers.allSatisfy(\.isWellFormed) else {
            throw HTTPFailure(.notAllowed, mayHaveBeenSent: false, "a header field holds a line break")
        }
        let id = lastID.add(1, ordering: .relaxed).newValue
        defer { loop.forget(id) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.submit(Submission(id: id, request: request, url: url, continuation: continuation))
            }
        } onCancel: {
            if request.isRepeatable { loop.cancel(id) }
        }
        return try outcome.get()
    }

    /// Refuses new requests, cancels those that may be cancelled, waits for the others (at most their time limit) and
    /// for the thread.
    package func shutdown() async {
        loop.stop()
        await loop.ended()
    }

    /// Refuses new requests and cancels all others, also those that the provider may have carried out. ``shutdown()``
    /// follows.
    package func abandon() { loop.abandon() }
}

extension HTTPHeader {
    /// RFC 9110, section 5.5: a value with a line break would start a field, or a request, of its own.
    fileprivate var isWellFormed: Bool {
        func isSafe(_ bytes: some Sequence<UInt8>) -> Bool {
            bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
        }
        let nameIsSafe = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
        switch value {
        case .text(let text): return nameIsSafe && isSafe(text.utf8)
        case .secret(let secret): return nameIsSafe && secret.withBytes { isSafe($0) }
        }
    }
}
