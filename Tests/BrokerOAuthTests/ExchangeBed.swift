import BrokerModel
import BrokerTestSupport
import BrokerValues

/// Endpoints that a provider may have in addition to the usual ones.
enum OptionalEndpoint: String, CaseIterable {
    case device = "device_authorization_endpoint"
    case revocation = "revocation_endpoint"
    case pushed = "pushed_authorization_request_endpoint"
    case registration = "registration_endpoint"
    case endSession = "end_session_endpoint"

    var path: String { "/\(rawValue)" }
}

extension ProviderBed {
    /// Publishes all of them.
    func offerEverything() {
        let issuer = provider.issuer
        provider.configure { behaviour in
            for endpoint in OptionalEndpoint.allCases {
                behaviour.metadata[endpoint.rawValue] = .string(issuer + endpoint.path)
            }
        }
    }

    func answer(at endpoint: OptionalEndpoint, _ answer: ProviderAnswer) {
        provider.on(path: endpoint.path) { _ in answer }
    }

    func requests(to endpoint: OptionalEndpoint) -> [ProviderRequest] {
        provider.requests.filter { $0.path == endpoint.path }
    }

    func refusal<Result>(_ body: () async throws -> Result) async -> OAuthRefusal? {
        if case .refused(let refusal) = await failure(body) { refusal } else { nil }
    }
}

extension ProviderError {
    var isInvalidResponse: Bool { if case .invalidResponse = self { true } else { false } }
    var isNotOffered: Bool { if case .notOffered = self { true } else { false } }

    /// A response that violates the standard.
    var violation: (status: Int?, text: String)? {
        if case .invalidResponse(let status, let text) = self { (status, text) } else { nil }
    }

    /// For comparisons of all but the text.
    var withoutText: ProviderError {
        switch self {
        case .offline: .offline("")
        case .outcomeUnknown: .outcomeUnknown("")
        case .unavailable(let status, let retryAfter, _): .unavailable(status: status, retryAfter: retryAfter, "")
        case .invalidResponse(let status, _): .invalidResponse(status: status, "")
        case .refusedWithoutReason(let status, _): .refusedWithoutReason(status: status, "")
        default: self
        }
    }
}
