import BrokerModel
import BrokerOAuth
import BrokerValues
import Synchronization

/// A token endpoint that asks for nonces (RFC 9449, section 8): the parts of the input are lines of its responses' headers.
func readNonces(_ bytes: UnsafeRawBufferPointer) {
    let endpoint = DemandingEndpoint(ProviderReading.answers(in: bytes))
    let provider = OAuthProvider(http: endpoint, clock: FixedClock(), proofs: CheckingProofs())
    let asked = 2
    ProviderReading.wait {
        guard
            let metadata = try? await ProviderReading.provider([ProviderReading.document]).metadata(
                of: ProviderReading.authority)
        else { fatalError("no metadata") }
        let grant = TokenGrant.refreshToken(Secret("refresh"), scopes: ProviderReading.scopes)
        var extras = TokenRequestExtras()
        extras.proofKey = ProofKey(privateKey: Secret("key"), thumbprint: "thumbprint")
        for _ in 0..<asked {
            _ = try? await provider.redeem(grant, with: extras, as: ClientCredentials(clientID: "client"), at: metadata)
        }
    }
    precondition((asked...2 * asked).contains(endpoint.requests), "a request goes out once, and once more with a nonce")
}

private final class DemandingEndpoint: HTTPTransport {
    private let headers: [String: [String]]
    private let count = Mutex(0)

    init(_ lines: [[UInt8]]) {
        let fields = lines.compactMap { line in line.withUnsafeBytes { HeaderField($0) } }
        headers = Dictionary(grouping: fields, by: \.name).mapValues { $0.map(\.value) }
    }

    var requests: Int { count.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
        count.withLock { $0 += 1 }
        let saysSoInBody = headers["www-authenticate"] == nil
        return HTTPResponse(
            status: saysSoInBody ? 400 : 401, headers: headers,
            body: Array((saysSoInBody ? #"{"error":"use_dpop_nonce"}"# : "").utf8))
    }
}

/// Makes no proofs, and checks their intended contents.
private struct CheckingProofs: ProofSigner {
    func makeKey() -> ProofKey? { fatalError("no request asks for one") }
    func key(privateKey: Secret) -> ProofKey? { nil }

    func proof(
        with key: ProofKey, for target: ProofTarget, accessToken: Secret?, nonce: String?, now: NumericDate
    ) -> String? {
        let isPlain = nonce.map {
            (1...1024).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        }
        precondition(isPlain != false, "a nonce that breaks a header")
        return "proof"
    }
}
