import BrokerModel
import BrokerValues
import Synchronization

/// Fetches a provider's JSON documents, keeps them as long as they are fresh, asks once for many callers, and falls back
/// on a stale one while the provider is down.
///
/// Each document is parsed once, on arrival; `Content` is the part that is used.
final class DocumentCache<Content: Sendable>: Sendable {
    struct Document: Sendable {
        var source: CachedDocument
        var content: Content
    }

    private struct Entry {
        var document: Document
        /// When the provider last confirmed the document, on the clock's uptime.
        var confirmedAt: Duration
        /// On the clock's uptime, which changes of the wall clock do not affect.
        var freshUntil: Duration
        /// From an earlier run of the broker: if expired, it is used once more while it is renewed, so that the first request
        /// after a start does not wait, and does not fail without network.
        var servesWhileRenewed = false
    }

    private struct Flight: Hashable {
        var place: DocumentPlace
        var isRenewal: Bool
    }
    private typealias Outcome = Result<Document, ProviderError>

    private let transport: any HTTPTransport
    let clock: any BrokerClock
    private let store: DocumentStore?
    private let thread: ParserThread
    private let flights = SharedFlights<Flight, Outcome>()
    /// Each entry counts against its server.
    private let entries = Mutex(FairCache<String, DocumentPlace, Entry>(limit: DocumentCache.memory))

    /// When each document was last asked for although it was fresh. Each entry counts against its server.
    private let renewals = Mutex(FairCache<String, DocumentPlace, Duration>(limit: 256))

    /// Fetches in progress, by server: a server that answers slowly occupies no more than its share.
    private let places = Mutex(FairQuota<String, String>(limit: DocumentCache.maximumFetches))

    static var maximumFetches: Int { 1_024 }

    /// The limit in bytes for all documents together.
    static var memory: Int { 16 << 20 }

    /// How long a stale document is used without asking again, after asking failed.
    private static var pauseAfterFailure: Duration { .seconds(60) }

    static var pauseBetweenRenewals: Duration { .seconds(60) }

    /// The maximum age, a month, at which a document of an earlier run is used before it is renewed.
    private static var oldestServed: Int64 { 30 * 86_400 }

    /// - Parameters:
    ///   - store: keeps documents across restarts; `nil` keeps them in memory only.
    ///   - thread: parses the documents.
    init(transport: any HTTPTransport, clock: any BrokerClock, store: DocumentStore?, thread: ParserThread) {
        self.transport = transport
        self.clock = clock
        self.store = store
        self.thread = thread
    }

    /// Extracts the used part of a document; throws if the document is invalid.
    typealias Reading = @Sendable (JSONObject) throws(ProviderError) -> Content

    /// How old a document may be that is used because the provider cannot be asked.
    enum Staleness {
        case anyAge
        /// Since the provider last confirmed it. The provider's own limit (`max-age`) applies as well.
        case atMost(Duration)
    }

    /// - Parameters:
    ///   - place: the document's URL and issuer.
    ///   - staleness: the limit for a document that is used while the provider is down.
    ///   - reading: a document for which it throws is not kept, and does not replace one for which it succeeded.
    /// - Returns: a fresh document, or a stale one while the provider is down.
    /// - Throws: the provider's error or why it could not be asked; not while a stale document may be used.
    func document(
        at place: DocumentPlace, staleness: Staleness = .anyAge, reading: @escaping Reading
    ) async throws(ProviderError) -> Document {
        if let entry = await entry(place, reading), serves(entry, staleness) {
            if clock.uptime < entry.freshUntil { return entry.document }
            if entry.servesWhileRenewed {
                Task { _ = try? await freshDocument(at: place, reading: reading) }
                return entry.document
            }
        }
        do throws(ProviderError) {
            return try await freshDocument(at: place, reading: reading)
        } catch {
            guard error.leavesStaleDocumentUsable, let known = await entry(place, reading), serves(known, staleness)
            else { throw error }
            return known.document
        }
    }

    private func serves(_ entry: Entry, _ staleness: Staleness) -> Bool {
        guard case .atMost(let longest) = staleness else { return true }
        return clock.uptime < entry.confirmedAt + max(longest, .seconds(entry.document.source.lifetime))
    }

    /// After a failure, a cached document that may still be used counts as fresh for a while, so that the provider is not asked again at once.
    private func freshDocument(at place: DocumentPlace, reading: @escaping Reading) async throws(ProviderError)
        -> Document
    {
        let outcome = await flights.value(for: Flight(place: place, isRenewal: false)) { [self] in
            do throws(ProviderError) {
                return Outcome.success(try await fetch(place, reading))
            } catch {
                if error.leavesStaleDocumentUsable, var known = await entry(place, reading) {
                    known.freshUntil = clock.uptime + Self.pauseAfterFailure
                    known.servesWhileRenewed = false
                    keep(known, at: place)
                } else if error.meansDocumentIsGone {
                    entries.withLock { _ = $0.remove(place) }
                    await store?.forget(place.name)
                } else if var known = entries.withLock({ $0.peek(place) }) {
                    known.servesWhileRenewed = false
                    keep(known, at: place)
                }
                return .failure(error)
            }
        }
        guard let outcome else { throw Self.canceled }
        return try outcome.get()
    }

    private enum Unusable: Error {
        case malformed(JSONReader.Malformed)
        case refused(ProviderError)
    }

    private func read(_ text: [UInt8], _ reading: @escaping Reading) async -> Result<Content, Unusable> {
        await thread.read(bytes: text.count) {
            Result(reading: text).mapError(Unusable.malformed).flatMap { object in
                do throws(ProviderError) { return .success(try reading(object)) } catch {
                    return .failure(.refused(error))
                }
            }
        }
    }

    /// From memory, otherwise from an earlier run of the broker. The stored document may have been written by an earlier version
    /// or under another configuration.
    private func entry(_ place: DocumentPlace, _ reading: @escaping Reading) async -> Entry? {
        if let entry = entries.withLock({ $0.use(place) }) { return entry }
        guard let kept = store?.document(named: place.name),
            case .success(let content) = await read(kept.document.body, reading)
        else { return nil }
        // A document from the future means that the clock went back: its age is unknown and may be anything.
        let elapsed = clock.now - kept.fetchedAt
        let age = elapsed >= 0 ? elapsed : Self.oldestServed
        let left = max(0, kept.document.lifetime - age)
        let entry = Entry(
            document: Document(source: kept.document, content: content), confirmedAt: clock.uptime - .seconds(age),
            freshUntil: clock.uptime + .seconds(left), servesWhileRenewed: age <= Self.oldestServed)
        if let newer = entries.withLock({ $0.use(place) }) { return newer }
        keep(entry, at: place)
        return entry
    }

    /// Asks the provider although the cached document may be fresh: once a minute, for everybody who wants it meanwhile. A failed
    /// attempt does not count.
    ///
    /// - Returns: `nil` if the provider was asked within the last minute.
    func renewedDocument(
        at place: DocumentPlace, reading: @escaping Reading
    ) async throws(ProviderError) -> Document? {
        let flight = Flight(place: place, isRenewal: true)
        let outcome = await flights.value(for: flight, if: { mayRenew(place) }) { [self] in
            do throws(ProviderError) {
                return Outcome.success(try await fetch(place, reading))
            } catch {
                renewals.withLock { _ = $0.remove(place) }
                return .failure(error)
            }
        }
        guard outcome != nil || !Task.isCancelled else { throw Self.canceled }
        return try outcome?.get()
    }

    private func mayRenew(_ place: DocumentPlace) -> Bool {
        let now = clock.uptime
        return renewals.withLock { times in
            if let last = times.use(place), now - last < Self.pauseBetweenRenewals { return false }
            times.keep(now, for: place, of: place.url.server)
            times.makeRoom()
            return true
        }
    }

    private static var canceled: ProviderError { .offline("The request was canceled.") }

    /// Whether the given document is the one that would be used now.
    func isCurrent(_ document: Document, at place: DocumentPlace) -> Bool {
        entries.withLock { $0.peek(place)?.document.source == document.source }
    }

    private func fetch(_ place: DocumentPlace, _ reading: @escaping Reading) async throws(ProviderError) -> Document {
        let url = place.url
        guard places.withLock({ $0.take(for: url.server, of: url.server) }) else {
            throw .offline("Too many documents are being fetched from \(url.server) already; try again in a moment.")
        }
        defer { places.withLock { $0.leave(for: url.server, of: url.server) } }
        let known = await entry(place, reading)?.document.source
        let headers = [HTTPHeader("Accept", "application/json")] + (known?.conditions ?? [])
        let response = try await transport.document(at: place, headers: headers)
        guard let source = confirmed(known, by: response) ?? CachedDocument(response, from: place) else {
            throw unexpected(response, from: url)
        }
        switch await read(source.body, reading) {
        case .success(let content):
            let document = Document(source: source, content: content)
            let now = clock.uptime
            keep(Entry(document: document, confirmedAt: now, freshUntil: now + .seconds(source.lifetime)), at: place)
            await store?.keep(source, fetchedAt: clock.now, on: thread)
            return document
        case .failure(.refused(let error)): throw error
        case .failure(.malformed(let malformed)): throw unexpected(response, from: url, malformed)
        }
    }

    private func unexpected(
        _ response: HTTPResponse, from url: WebURL, _ malformed: JSONReader.Malformed? = nil
    ) -> ProviderError {
        .unavailable(response, server: url.server, now: clock.now)
            ?? .unexpected(response, server: url.server, expected: "a JSON document", unreadable: malformed)
    }

    /// Whether a document of this run or an earlier one is cached.
    func has(_ place: DocumentPlace) -> Bool {
        entries.withLock { $0.peek(place) != nil } || store?.document(named: place.name) != nil
    }

    private func confirmed(_ known: CachedDocument?, by response: HTTPResponse) -> CachedDocument? {
        guard response.status == 304, var known else { return nil }
        if let cacheControl = response.header("cache-control") {
            known.lifetime = CachedDocument.lifetime(cacheControl: cacheControl)
        }
        return known
    }

    private func keep(_ entry: Entry, at place: DocumentPlace) {
        entries.withLock { entries in
            entries.keep(entry, for: place, of: place.url.server, weight: entry.document.source.body.count + 1_024)
            entries.makeRoom()
        }
    }

    /// The approximate number of bytes in memory.
    var weight: Int { entries.withLock { $0.weight } }
}

extension ProviderError {
    fileprivate var meansDocumentIsGone: Bool {
        switch self {
        case .invalidResponse(status: 404, _), .invalidResponse(status: 410, _): true
        default: false
        }
    }

    /// False if the provider says that the document is gone, or if its certificate is not trusted: the next request
    /// would fail in the same way, and the user should know.
    fileprivate var leavesStaleDocumentUsable: Bool {
        switch self {
        case .untrusted, .invalidResponse(status: 404, _), .invalidResponse(status: 410, _): false
        default: true
        }
    }
}
