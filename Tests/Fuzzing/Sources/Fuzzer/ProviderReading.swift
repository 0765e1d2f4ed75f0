import BrokerModel
import BrokerOAuth
import BrokerValues
import Dispatch
import Synchronization

/// A provider that answers with the given bytes.
enum ProviderReading {
    static func metadata(_ bytes: UnsafeRawBufferPointer) {
        let answers = answers(in: bytes)
        wait { _ = try? await provider(answers).metadata(of: authority) }
    }

    static func tokens(_ bytes: UnsafeRawBufferPointer) {
        let provider = provider(answers(in: bytes))
        wait {
            let client = ClientCredentials(clientID: "client")
            guard let metadata = try? await Self.provider([document]).metadata(of: authority) else { fatalError() }
            let grant = TokenGrant.refreshToken(Secret("refresh"), scopes: scopes)
            if let answer = try? await provider.redeem(grant, with: .init(), as: client, at: metadata) {
                let isPlain = answer.accessToken.withBytes { $0.allSatisfy { (0x20...0x7e).contains($0) } }
                precondition(isPlain, "an access token that breaks a header")
            }
            _ = try? await provider.userInfo(with: Secret("token"), .bearer, provenBy: nil, at: metadata)
            _ = try? await provider.authorizeDevice(
                DeviceAuthorizationRequest(scopes: scopes), as: client, at: metadata)
            _ = try? await provider.register(
                ClientRegistrationRequest(
                    clientName: "app", redirectURIs: ["http://127.0.0.1/"], scopes: scopes, isConfidential: false),
                at: metadata)
        }
    }

    /// The first part is the token, the second the keys.
    static func idToken(_ bytes: UnsafeRawBufferPointer) {
        let parts = answers(in: bytes)
        wait {
            guard let metadata = try? await provider([document]).metadata(of: authority) else { fatalError() }
            let token = Secret(String(decoding: parts.first ?? [], as: UTF8.self))
            let claims = try? await provider(Array(parts.dropFirst())).verify(
                idToken: token, against: IDTokenExpectation(clientID: "client", nonce: "nonce"), at: metadata)
            // No token is signed with a key of the fuzzer.
            precondition(claims == nil || parts.count > 1, "an ID token without a key was taken")
        }
    }

    static let scopes = Scopes(["a"])
    private static let issuer = "https://provider.example"
    static let document = Array(
        """
        {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/a","token_endpoint":"\(issuer)/t",
        "jwks_uri":"\(issuer)/k","userinfo_endpoint":"\(issuer)/u","registration_endpoint":"\(issuer)/r",
        "device_authorization_endpoint":"\(issuer)/d","response_types_supported":["code"]}
        """.utf8)

    static var authority: Authority {
        guard let authority = Authority.issuer(issuer) else { fatalError("no authority") }
        return authority
    }

    /// Parts between bytes 0x1e.
    static func answers(in bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        bytes.split(separator: 0x1e, maxSplits: 7, omittingEmptySubsequences: false).map(Array.init)
    }

    static func provider(_ answers: [[UInt8]]) -> OAuthProvider {
        OAuthProvider(http: Answering(answers), clock: FixedClock(), proofs: NoProofs())
    }

    static func wait(_ body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await body()
            done.signal()
        }
        done.wait()
    }
}

/// Gives its responses one after the other, and then the last one again. One that begins with ! is an error.
private final class Answering: HTTPTransport {
    private let answers: Mutex<[[UInt8]]>

    init(_ answers: [[UInt8]]) { self.answers = Mutex(answers) }

    func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
        let body = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
        let status = body.first == UInt8(ascii: "!") ? 400 : 200
        return HTTPResponse(
            status: status, headers: ["content-type": ["application/json"]],
            body: status == 400 ? Array(body.dropFirst()) : body)
    }
}

struct FixedClock: BrokerClock {
    var now: NumericDate { 1_800_000_000 }
    var uptime: Duration { .seconds(1000) }
    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

private struct NoProofs: ProofSigner {
    func makeKey() -> ProofKey? { fatalError("no request asks for one") }
    func key(privateKey: Secret) -> ProofKey? { nil }
    func proof(
        with key: ProofKey, for target: ProofTarget, accessToken: Secret?, nonce: String?, now: NumericDate
    ) -> String? { nil }
}
