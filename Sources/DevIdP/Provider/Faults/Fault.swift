/// A way in which an endpoint misbehaves, as a test orders it.
package struct Fault: Codable, Sendable, Equatable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// `status`, with `retryAfter`, `location`, `contentType` and `body`.
        case status
        /// An error in the provider's own form: `error` (invalid_grant without it), and for Entra `number` and `subError`.
        case refuse
        /// A page for people instead of JSON; 200 unless `status` says otherwise.
        case html
        /// No answer until the client gives up, or `delay` seconds have passed.
        case hang
        /// The connection is reset (RST) before any work is done.
        case reset
        /// The work is done, then the connection is closed without an answer: a rotated token is spent and lost.
        case drop
        /// 400 without a body, as some providers answer for a dead refresh token.
        case empty400
        /// The right answer, `delay` seconds late.
        case slow
        /// 200 and `application/json`, with bytes that are none.
        case garbage
        /// The head and half of the right answer, then the end of the connection.
        case truncate
        /// The right answer behind 2 MiB of white space.
        case huge
        /// The right answer behind a megabyte of white space, which takes `delay` seconds to come (10 without it).
        case trickle
    }

    /// Whom it strikes; nil strikes every endpoint.
    package var endpoint: Endpoint?
    package var kind: Kind
    package var status: Int?
    /// Seconds, for the `Retry-After` header.
    package var retryAfter: Int?
    package var location: String?
    package var contentType: String?
    package var body: String?
    package var error: String?
    /// Entra's (AADSTS).
    package var number: Int?
    package var subError: String?
    /// Only requests at this tenant are struck; nil strikes at every tenant.
    package var tenant: String?
    /// Seconds.
    package var delay: Double?
    /// How many requests it strikes; 0 means all, until it is removed.
    package var times: Int
    /// It strikes when faults are removed, and whom it is for waits so long.
    package var isHeld: Bool

    package init(
        _ endpoint: Endpoint?, _ kind: Kind, status: Int? = nil, retryAfter: Int? = nil, location: String? = nil,
        contentType: String? = nil, body: String? = nil, delay: Double? = nil, times: Int = 1,
        isHeld: Bool = false
    ) {
        self.endpoint = endpoint
        self.kind = kind
        self.status = status
        self.retryAfter = retryAfter
        self.location = location
        self.contentType = contentType
        self.body = body
        self.delay = delay
        self.times = times
        self.isHeld = isHeld
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let endpoint = try fields.decode(String.self, forKey: .endpoint)
        guard endpoint == "*" || Endpoint(rawValue: endpoint) != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .endpoint, in: fields,
                debugDescription: "no endpoint \(endpoint); there are * \(Endpoint.allCases.map(\.rawValue))")
        }
        self.init(
            Endpoint(rawValue: endpoint), try fields.decode(Kind.self, forKey: .kind),
            status: try fields.decodeIfPresent(Int.self, forKey: .status),
            retryAfter: try fields.decodeIfPresent(Int.self, forKey: .retryAfter),
            location: try fields.decodeIfPresent(String.self, forKey: .location),
            contentType: try fields.decodeIfPresent(String.self, forKey: .contentType),
            body: try fields.decodeIfPresent(String.self, forKey: .body),
            delay: try fields.decodeIfPresent(Double.self, forKey: .delay),
            times: try fields.decodeIfPresent(Int.self, forKey: .times) ?? 1,
            isHeld: try fields.decodeIfPresent(Bool.self, forKey: .isHeld) ?? false)
        error = try fields.decodeIfPresent(String.self, forKey: .error)
        number = try fields.decodeIfPresent(Int.self, forKey: .number)
        subError = try fields.decodeIfPresent(String.self, forKey: .subError)
        tenant = try fields.decodeIfPresent(String.self, forKey: .tenant)
    }

    /// A refusal in the provider's own form.
    package static func refuse(
        _ error: String = "invalid_grant", number: Int? = nil, subError: String? = nil, tenant: String? = nil,
        times: Int = 1
    ) -> Fault {
        var fault = Fault(.token, .refuse, times: times)
        (fault.error, fault.number, fault.subError, fault.tenant) = (error, number, subError, tenant)
        return fault
    }
}

/// The faults still to strike, first come first served.
struct FaultPlan: Sendable {
    private var pending: [Fault] = []
    /// How often all were removed.
    private(set) var removals = 0

    init(_ faults: [Fault] = []) { pending = faults }

    mutating func add(_ fault: Fault) { pending.append(fault) }

    mutating func removeAll() {
        pending = []
        removals += 1
    }

    /// The fault that strikes this request, counted off.
    mutating func take(for endpoint: Endpoint, at tenant: String?) -> Fault? {
        let found = pending.firstIndex {
            ($0.endpoint == endpoint || $0.endpoint == nil) && ($0.tenant == nil || $0.tenant == tenant)
        }
        guard let index = found else { return nil }
        let fault = pending[index]
        if fault.times == 1 { pending.remove(at: index) }
        if fault.times > 1 { pending[index].times -= 1 }
        return fault
    }
}
