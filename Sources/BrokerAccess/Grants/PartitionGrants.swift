import BrokerModel
import BrokerValues

/// The grants of one person, the requests of callers, and the refusals. Pure: the time is a parameter.
struct PartitionGrants: Sendable {
    private(set) var grants: [String: GrantRecord] = [:]
    private var bySubject: [GrantSubject: [String]] = [:]
    /// Requests that wait for an answer, oldest first; at most ``GrantRules/openRequests``.
    private(set) var requests: [OpenRequest] = []
    private var refusals: [RefusedParty: Refusal] = [:]
    private var weightOfGrants = 0

    /// Its rough size in bytes.
    var weight: Int {
        requests.reduce(1_024 + weightOfGrants + refusals.count * 512) { $0 + 4_096 + $1.request.scopes.roughBytes }
    }

    struct OpenRequest: Sendable {
        var request: GrantRequest
        let subject: GrantSubject
        let claimant: QuotaOwner
        /// The app at the time of the request, without its secret.
        let app: AppRegistration
        /// How often it replaced an earlier one.
        let extensions: Int
    }

    /// The result of a request.
    enum AskResult {
        case open(GrantRequest)
        /// - replaced: the request that it replaced.
        case new(GrantRequest, replaced: GrantRequest?)
        /// There is no room. No request is evicted for it: the waiting caller would ask again at once.
        case refused
    }

    /// The subject of a refusal. A caller makes up client ids that are not registered, so a refusal of one is for all of them.
    private struct RefusedParty: Hashable {
        let claimant: QuotaOwner
        /// The app's identity; `nil` for all unregistered clients.
        let app: String?

        init(_ claimant: QuotaOwner, as app: AppRegistration) {
            self.claimant = claimant
            self.app = app.isAdHoc ? nil : app.identity
        }
    }

    private struct Refusal: Sendable {
        var caller: CallerIdentity
        var until: NumericDate
        /// Number of refusals in a row.
        var count: Int
    }

    init() {}

    init(_ records: [GrantRecord]) {
        for record in records { put(record) }
    }

    // MARK: Grants

    mutating func put(_ record: GrantRecord) {
        let subject = GrantSubject(record)
        weightOfGrants += record.roughBytes
        if let before = grants.updateValue(record, forKey: record.grant.id) {
            weightOfGrants -= before.roughBytes
        } else {
            bySubject[subject, default: []].append(record.grant.id)
        }
    }

    mutating func remove(_ id: String) -> GrantRecord? {
        guard let record = grants.removeValue(forKey: id) else { return nil }
        weightOfGrants -= record.roughBytes
        let subject = GrantSubject(record)
        bySubject[subject]?.removeAll { $0 == id }
        if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
        return record
    }

    func grant(for subject: GrantSubject, as app: AppRegistration, _ reach: AppReach, now: NumericDate) -> Grant? {
        valid(of: subject, as: app, now) { $0.part.covers(reach, by: app) }
    }

    /// Whether the subject has a grant that allows the same; it may be a later one.
    func holds(_ grant: GrantInUse, of subject: GrantSubject, as app: AppRegistration, now: NumericDate) -> Bool {
        valid(of: subject, as: app, now) { GrantInUse($0).isSame(as: grant) } != nil
    }

    func hasAny(for subject: GrantSubject, as app: AppRegistration, now: NumericDate) -> Bool {
        valid(of: subject, as: app, now) { _ in true } != nil
    }

    /// The first valid grant that fits. Part of the hot path of requests admitted by a grant.
    private func valid(
        of subject: GrantSubject, as app: AppRegistration, _ now: NumericDate, where fits: (Grant) -> Bool
    ) -> Grant? {
        guard let ids = bySubject[subject] else { return nil }
        let binding = app.grantBinding
        for id in ids {
            if let record = grants[id], record.binding == binding, record.grant.isGood(at: now), fits(record.grant) {
                return record.grant
            }
        }
        return nil
    }

    mutating func use(_ id: String, now: NumericDate) {
        grants[id]?.grant.uses += 1
        grants[id]?.grant.lastUsedOn = now
    }

    /// The expired grants, which admit no request.
    func outdated(at now: NumericDate) -> [GrantRecord] {
        grants.values.filter { record in record.grant.expiresOn.map { $0 <= now } ?? false }
    }

    // MARK: Requests

    /// The time until which the app is refused and a new request would be too early.
    func refusedUntil(_ claimant: QuotaOwner, as app: AppRegistration, now: NumericDate) -> NumericDate? {
        guard let until = refusals[RefusedParty(claimant, as: app)]?.until, now < until else { return nil }
        return until
    }

    func request(of subject: GrantSubject) -> GrantRequest? { requests.first { $0.subject == subject }?.request }

    /// Each caller has one open request per app. A caller that asks for more than before gets another one in its place, for
    /// everything that it asked for: a person agrees to exactly what they have read.
    mutating func ask(
        _ subject: GrantSubject, by claimant: QuotaOwner, for app: AppRegistration, _ part: GrantedPart,
        facts: CallerFacts, id: String, now: NumericDate
    ) -> AskResult {
        var (part, extensions) = (part, 0)
        let index = requests.firstIndex { $0.subject == subject }
        if let open = index.map({ requests[$0] }) {
            extensions = open.extensions + 1
            if open.app.grantBinding == app.grantBinding {
                let whole = open.request.part.union(part)
                guard whole != open.request.part else { return .open(open.request) }
                guard GrantRules.areShown(whole.scopes) else { return .refused }
                part = whole
            } else if app.isAdHoc {
                // The app is at another tenant. Both may wait.
                return .refused
            }
            // Otherwise the app was registered anew: the person must not agree to the earlier one by mistake.
        }
        guard extensions <= GrantRules.extensions, index != nil || hasRoom(for: claimant) else { return .refused }
        let replaced = index.map { requests.remove(at: $0).request }
        let request = GrantRequest(
            id: id, caller: subject.caller, app: app.grantName, clientID: app.isAdHoc ? app.clientID : nil,
            authority: app.authority.url, accountID: part.accountID, scopes: part.scopes?.asGiven, requestedOn: now,
            facts: facts)
        requests.append(
            OpenRequest(
                request: request, subject: subject, claimant: claimant, app: app.withoutSecret, extensions: extensions))
        return .new(request, replaced: replaced)
    }

    /// A caller with many requests leaves as many slots free, so that a caller without any finds one.
    private func hasRoom(for claimant: QuotaOwner) -> Bool {
        let own = requests.count { $0.claimant == claimant }
        let ofUnnamed = requests.count { $0.claimant.isUnnamed }
        return own < GrantRules.openRequestsOfOneCaller
            && (!claimant.isUnnamed || ofUnnamed < GrantRules.openRequestsOfUnnamed)
            && requests.count + own < GrantRules.openRequests
    }

    /// Removes a request and returns it.
    mutating func take(_ id: String) -> OpenRequest? {
        requests.firstIndex { $0.request.id == id }.map { requests.remove(at: $0) }
    }

    /// Removes and returns the requests that were not answered in time.
    mutating func takeExpired(now: NumericDate) -> [OpenRequest] {
        let isOver = { (open: OpenRequest) in
            now >= open.request.requestedOn + GrantRules.requestLifetime
                || now < open.request.requestedOn - Grant.clockTolerance
        }
        defer { requests.removeAll(where: isOver) }
        return requests.filter(isOver)
    }

    mutating func refuse(_ open: OpenRequest, now: NumericDate) {
        let party = RefusedParty(open.claimant, as: open.app)
        if refusals.count >= GrantRules.refusals, refusals[party] == nil,
            let oldest = refusals.min(by: { $0.value.until < $1.value.until })?.key
        {
            refusals[oldest] = nil
        }
        let before = refusals[party]
        // A request refused while a refusal lasts was made before it.
        let count = (before?.count ?? 0) + (before.map { now < $0.until } == true ? 0 : 1)
        refusals[party] = Refusal(
            caller: open.subject.caller, until: now + GrantRules.refusalTime(inARow: count), count: count)
    }

    mutating func forgetRefusal(of caller: CallerIdentity, as app: AppRegistration) {
        let name = app.isAdHoc ? nil : app.identity
        refusals = refusals.filter { $0.key.app != name || $0.value.caller != caller }
    }
}

extension GrantSubject {
    init(_ record: GrantRecord) { self.init(caller: record.grant.caller, app: record.app) }
}

extension GrantRequest {
    var part: GrantedPart { GrantedPart(accountID: accountID, scopes: scopes) }
}

extension GrantRecord {
    fileprivate var roughBytes: Int { 2_048 + grant.scopes.roughBytes }
}

extension [String]? {
    fileprivate var roughBytes: Int { (self ?? []).reduce(0) { $0 + $1.utf8.count + 32 } }
}
