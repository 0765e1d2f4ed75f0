import BrokerModel
import BrokerValues
import Synchronization

/// Fetches a provider's JSON documents, keeps them as long as they are fresh, asks once for many callers, and falls back
/// on a stale one while the provider is down.
final class DocumentCache: Sendable {
    private struct Entry {
        var document: CachedDocument
        /// On the clock's uptime, which no change of the wall clock moves.
        var freshUntil: Duration
        /// Of an earlier run of the broker: past its time it is used once more while it is asked for, so that the first
        /// request after a start need not wait, nor fail without network.
        var servesWhileRenewed = false
    }

    private struct Flight: Hashable {
        var url: String
        var isRenewal: Bool
    }
    private typealias Outcome = Result<CachedDocument, ProviderError>

    private let transport: any HTTPTransport
    private let clock: any BrokerClock
    private let store: DocumentStore?
    private let flights = SharedFlights<Flight, Outcome>()
    private let entries = Mutex<[String: Entry]>([:])

    /// How long a stale document is used without asking again, after asking failed.
    private static let pauseAfterFailure: Duration = .seconds(60)

    /// How old a document of an earlier run may be to be used before it is asked for again: a month.
    private static let oldestServed: Int64 = 30 * 86_400

    /// - Parameter store: keeps documents across restarts; nil keeps them in memory only.
    init(transport: any HTTPTransport, clock: any BrokerClock, store: DocumentStore? = nil) {
        self.transport = transport
        self.clock = clock
        self.store = store
    }

    /// Whether what a provider sent is what it should be; throws what is wrong with it.
    typealias Check = @Sendable (JSONObject) throws(ProviderError) -> Void

    /// - Parameters:
    ///   - url: where the document is.
    ///   - check: a document that fails it is not kept, and does not replace one that passed.
    /// - Returns: a fresh document, or a stale one while the provider is down.
    /// - Throws: what the provider said or why it could not be asked; not while a stale document can serve.
    func document(at url: WebURL, check: @escaping Check) async throws(ProviderError) -> CachedDocument {
        if let entry = entry(url, check) {
            if clock.uptime < entry.freshUntil { return entry.document }
            if entry.servesWhileRenewed {
                Task { _ = try? await freshDocument(at: url, check: check) }
                return entry.document
            }
        }
        return try await freshDocument(at: url, check: check)
    }

    private func freshDocument(at url: WebURL, check: @escaping Check) async throws(ProviderError) -> CachedDocument {
        try await shared(Flight(url: url.text, isRenewal: false)) { [self] in
            do throws(ProviderError) {
                return .success(try await fetch(url, check))
            } catch {
                guard error.leavesStaleDocumentUsable, let known = entry(url, check)?.document else {
                    entries.withLock { $0[url.text]?.servesWhileRenewed = false }
                    if error.saysDocumentIsGone {
                        entries.withLock { $0[url.text] = nil }
                        await store?.forget(url.text)
                    }
                    return .failure(error)
                }
                keep(known, for: Self.pauseAfterFailure)
                return .success(known)
            }
        }
    }

    /// What was kept may have been made by an earlier version, or under another configuration.
    private func passes(_ object: JSONObject, _ check: Check) -> Bool {
        do throws(ProviderError) {
            try check(object)
            return true
        } catch {
            return false
        }
    }

    /// From memory, or else from an earlier run of the broker.
    private func entry(_ url: WebURL, _ check: Check) -> Entry? {
        if let entry = entries.withLock({ $0[url.text] }) { return entry }
        guard let kept = store?.document(at: url.text), let object = JSONObject(json: kept.document.body),
            passes(object, check)
        else { return nil }
        let age = clock.now - kept.fetchedAt
        // One from the future says that the clock went back: nothing can be told about its age.
        let left = age >= 0 ? max(0, kept.document.lifetime - age) : 0
        let entry = Entry(
            document: kept.document, freshUntil: clock.uptime + .seconds(left),
            servesWhileRenewed: age <= Self.oldestServed)
        return entries.withLock { entries in
            if let newer = entries[url.text] { return newer }
            entries[url.text] = entry
            return entry
        }
    }

    /// Asks the provider although the document at hand may be fresh.
    func renewedDocument(at url: WebURL, check: @escaping Check) async throws(ProviderError) -> CachedDocument {
        try await shared(Flight(url: url.text, isRenewal: true)) { [self] in
            do throws(ProviderError) {
                return .success(try await fetch(url, check))
            } catch {
                return .failure(error)
            }
        }
    }

    private func shared(
        _ flight: Flight, _ work: @escaping @Sendable () async -> Outcome
    ) async throws(ProviderError) -> CachedDocument {
        guard let outcome = await flights.value(for: flight, work: work) else {
            throw .offline("The request was cancelled.")
        }
        return try outcome.get()
    }

    /// Whether the document that would be used now is the one given.
    func isCurrent(_ document: CachedDocument) -> Bool {
        entries.withLock { $0[document.url]?.document == document }
    }

    private func fetch(_ url: WebURL, _ check: Check) async throws(ProviderError) -> CachedDocument {
        let known = entry(url, check)?.document
        let response: HTTPResponse
        do throws(HTTPFailure) {
            let headers = [HTTPHeader("Accept", "application/json")] + (known?.conditions ?? [])
            response = try await transport.get(url.text, headers: headers)
        } catch {
            throw ProviderError(error, isRepeatable: true)
        }
        guard let document = confirmed(known, by: response) ?? CachedDocument(response, from: url.text),
            let object = JSONObject(json: document.body)
        else {
            throw .unavailable(response, server: url.server, now: clock.now)
                ?? .unexpected(response, server: url.server, expected: "a JSON document")
        }
        try check(object)
        keep(document, for: .seconds(document.lifetime))
        await store?.keep(document, fetchedAt: clock.now)
        return document
    }

    /// Whether there is one at hand, of this run or an earlier one.
    func has(_ url: WebURL) -> Bool {
        entries.withLock { $0[url.text] != nil } || store?.document(at: url.text) != nil
    }

    private func confirmed(_ known: CachedDocument?, by response: HTTPResponse) -> CachedDocument? {
        guard response.status == 304, var known else { return nil }
        if let cacheControl = response.header("cache-control") {
            known.lifetime = CachedDocument.lifetime(cacheControl: cacheControl)
        }
        return known
    }

    private func keep(_ document: CachedDocument, for lifetime: Duration) {
        let freshUntil = clock.uptime + lifetime
        entries.withLock { $0[document.url] = Entry(document: document, freshUntil: freshUntil) }
    }
}

extension ProviderError {
    fileprivate var saysDocumentIsGone: Bool {
        switch self {
        case .invalidResponse(status: 404, _), .invalidResponse(status: 410, _): true
        default: false
        }
    }

    /// Not when the provider says that the document is gone, nor when its certificate is not trusted: the next request
    /// would meet that too, and the person should know.
    fileprivate var leavesStaleDocumentUsable: Bool {
        switch self {
        case .untrusted, .invalidResponse(status: 404, _), .invalidResponse(status: 410, _): false
        default: true
        }
    }
}
