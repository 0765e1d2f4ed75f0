import BrokerModel
import BrokerValues

/// The grants of one person, what callers ask for, and what was refused them. Pure: the time is handed in.
struct GrantLedger: Sendable {
    private(set) var grants: [String: GrantRecord] = [:]
    private var bySubject: [GrantSubject: [String]] = [:]
    /// What waits for an answer, the oldest first; at most ``GrantRules/openRequests``.
    private(set) var requests: [OpenRequest] = []
    private var refusals: [GrantSubject: Refusal] = [:]
    private var weightOfGrants = 0

    /// Roughly the bytes it takes.
    var weight: Int {
        requests.reduce(1_024 + weightOfGrants + refusals.count * 512) { $0 + 4_096 + $1.request.scopes.roughBytes }
    }

    struct OpenRequest: Sendable {
        var request: GrantRequest
        let subject: GrantSubject
        /// The app as it was asked for.
        let app: AppRegistration
    }

    private struct Refusal: Sendable {
        var until: NumericDate
        /// In a row.
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

    /// Part of the hot path of whoever is let in by a grant.
    func grant(for subject: GrantSubject, as app: AppRegistration, _ reach: AppReach, now: NumericDate) -> Grant? {
        guard let ids = bySubject[subject] else { return nil }
        let binding = app.grantBinding
        for id in ids {
            guard let record = grants[id], record.binding == binding, record.grant.isGood(at: now),
                record.grant.part.covers(reach, by: app)
            else { continue }
            return record.grant
        }
        return nil
    }

    /// Whether the subject has a grant of the same, which may be a later one.
    func holds(_ grant: GrantInUse, of subject: GrantSubject, as app: AppRegistration, now: NumericDate) -> Bool {
        let binding = app.grantBinding
        return (bySubject[subject] ?? []).contains { id in
            guard let record = grants[id], record.binding == binding, record.grant.isGood(at: now) else { return false }
            return GrantInUse(record.grant).isSame(as: grant)
        }
    }

    mutating func use(_ id: String, now: NumericDate) {
        grants[id]?.grant.uses += 1
        grants[id]?.grant.lastUsedOn = now
    }

    /// Grants whose time is over: nobody is let in by them any more.
    func outdated(at now: NumericDate) -> [GrantRecord] {
        grants.values.filter { record in record.grant.expiresOn.map { $0 <= now } ?? false }
    }

    // MARK: Requests

    /// When the person refused it, and asks not to be asked again so soon.
    func refusedUntil(_ subject: GrantSubject, now: NumericDate) -> NumericDate? {
        guard let until = refusals[subject]?.until, now < until else { return nil }
        return until
    }

    func request(of subject: GrantSubject) -> GrantRequest? { requests.first { $0.subject == subject }?.request }

    /// One request for each caller and app is open. Who asks for more than before gets another one in its place: what a
    /// person has read is what they agree to.
    ///
    /// - Returns: the request, whether it is a new one, and what was dropped for it.
    mutating func ask(
        _ subject: GrantSubject, for app: AppRegistration, _ part: GrantedPart, facts: CallerFacts, id: String,
        now: NumericDate
    ) -> (request: GrantRequest, isNews: Bool, dropped: [GrantRequest]) {
        var (part, dropped) = (part, [GrantRequest]())
        if let index = requests.firstIndex(where: { $0.subject == subject }) {
            let open = requests[index]
            // The app may be another one than it was: nobody is to agree to the earlier one by mistake.
            if open.app.grantBinding == app.grantBinding {
                let whole = open.request.part.union(part)
                guard whole != open.request.part else { return (open.request, false, []) }
                // Too much for one question: only what is asked for now.
                if GrantRules.canBeAsked(whole) { part = whole }
            }
            requests.remove(at: index)
            dropped.append(open.request)
        }
        if requests.count(where: { $0.subject.caller == subject.caller }) >= GrantRules.openRequestsOfOneCaller,
            let oldest = requests.firstIndex(where: { $0.subject.caller == subject.caller })
        {
            dropped.append(requests.remove(at: oldest).request)
        } else if requests.count >= GrantRules.openRequests {
            dropped.append(requests.removeFirst().request)
        }
        let request = GrantRequest(
            id: id, caller: subject.caller, app: app.grantName, accountID: part.accountID,
            scopes: part.scopes?.asGiven, requestedOn: now, facts: facts)
        requests.append(OpenRequest(request: request, subject: subject, app: app))
        return (request, true, dropped)
    }

    /// Takes a request out.
    mutating func take(_ id: String) -> OpenRequest? {
        requests.firstIndex { $0.request.id == id }.map { requests.remove(at: $0) }
    }

    /// Those that nobody answered in time.
    mutating func takeExpired(now: NumericDate) -> [OpenRequest] {
        let isOver = { (open: OpenRequest) in
            now >= open.request.requestedOn + GrantRules.requestLifetime || now < open.request.requestedOn
        }
        defer { requests.removeAll(where: isOver) }
        return requests.filter(isOver)
    }

    /// - Returns: until when the caller is not asked about.
    @discardableResult
    mutating func refuse(_ subject: GrantSubject, now: NumericDate) -> NumericDate {
        if refusals.count >= GrantRules.refusals, refusals[subject] == nil,
            let oldest = refusals.min(by: { $0.value.until < $1.value.until })?.key
        {
            refusals[oldest] = nil
        }
        let count = (refusals[subject]?.count ?? 0) + 1
        let until = now + GrantRules.refusalTime(inARow: count)
        refusals[subject] = Refusal(until: until, count: count)
        return until
    }

    mutating func forgetRefusal(of subject: GrantSubject) { refusals[subject] = nil }
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
