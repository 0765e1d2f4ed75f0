/// A fault of an endpoint, ordered by a test.
package struct Fault: Codable, Sendable, Equatable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// `status`, with `retryAfter`, `location`, `contentType` and `body`.
        case status
        /// An error in the provider's own format: `error` (invalid_grant by default), and for Entra `number` and `subError`.
        case refuse
        /// A page for people instead of JSON; 200 unless `status` says otherwise.
        case html
        /// No response until the client gives up, or `delay` seconds have passed.
        case hang
        /// The connection is reset (RST) before any work is done.
        case reset
        /// The work is done, then the connection is closed without a response: a rotated token is consumed and lost.
        case drop
        /// 400 without a body, which some providers send for a dead refresh token.
        case empty400
        /// The correct response, `delay` seconds late.
        case slow
        /// 200 and `application/json`, with bytes that are not JSON.
        case garbage
        /// The header and half of the correct response, then the end of the connection.
        case truncate
        /// The correct response after 2 MiB of white space.
        case huge
        /// The correct response after a megabyte of white space, which takes `delay` seconds (10 by default).
        case trickle
    }

    /// The endpoint to which it applies; `nil` for every endpoint.
    package var endpoint: Endpoint?
    package var kind: Kind
    package var status: Int?
    /// Seconds, for the `Retry-After` header.
    package var retryAfter: Int?
    package var location: String?
    package var contentType: String?
    package var body: String?
    package var error: String?
    /// Entra's error number (AADSTS).
    package var number: Int?
    package var subError: String?
    /// Only requests for this tenant are affected; `nil` for every tenant.
    package var tenant: String?
    /// Seconds.
    package var delay: Double?
    /// The number of requests that it affects; 0 means all, until it is removed.
    package var times: Int
    /// It takes effect when faults are removed; the affected request waits until then.
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

    /// A refusal in the provider's own format.
    package static func refuse(
        _ error: String = "invalid_grant", number: Int? = nil, subError: String? = nil, tenant: String? = nil,
        times: Int = 1
    ) -> Fault {
        var fault = Fault(.token, .refuse, times: times)
        (fault.error, fault.number, fault.subError, fault.tenant) = (error, number, subError, tenant)
        return fault
    }
}

/// The remaining faults, in the order they were added.
struct FaultPlan: Sendable {
    private var pending: [Fault] = []
    /// How often all faults were removed.
    private(set) var removals = 0

    init(_ faults: [Fault] = []) { pending = faults }

    mutating func add(_ fault: Fault) { pending.append(fault) }

    mutating func removeAll() {
        pending = []
        removals += 1
    }

    /// The fault for this request, counted.
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
