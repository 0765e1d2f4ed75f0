import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Documents in memory")
struct DocumentMemoryTests {
    /// Answers for every server with documents close to the size limit.
    private final class LargeDocuments: HTTPTransport {
        private let asked = Mutex<[String: Int]>([:])

        func count(_ authority: Authority) -> Int {
            asked.withLock { $0["\(authority.url)/.well-known/openid-configuration"] ?? 0 }
        }

        func send(_ request: HTTPRequest) -> HTTPResponse {
            asked.withLock { $0[request.url, default: 0] += 1 }
            let issuer = request.url.replacing("/.well-known/openid-configuration", with: "")
            let document = """
                {"issuer":"\(issuer)","authorization_endpoint":"\(issuer)/a","token_endpoint":"\(issuer)/t",
                "jwks_uri":"\(issuer)/k","filler":"\(String(repeating: "x", count: 900_000))"}
                """
            return HTTPResponse(
                status: 200, headers: ["content-type": ["application/json"]], body: Array(document.utf8))
        }
    }

    @Test("a server with many documents evicts its own from memory, not another server's")
    func neighbours() async throws {
        let documents = LargeDocuments()
        let provider = OAuthProvider(http: documents, clock: ManualClock(), proofs: testProofSigner())
        let honest = Sample.authority("https://honest.example")
        let hostile = (0..<40).map { Sample.authority("https://hostile.example/\($0)") }
        _ = try await provider.metadata(of: honest)
        for authority in hostile { _ = try await provider.metadata(of: authority) }
        for authority in [honest, hostile[39], hostile[0]] { _ = try await provider.metadata(of: authority) }
        #expect(documents.count(honest) == 1)
        #expect(documents.count(hostile[39]) == 1)
        #expect(documents.count(hostile[0]) == 2)
    }
}
