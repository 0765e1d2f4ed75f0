import BrokerModel
import BrokerValues
import Synchronization

/// Opens no port. The test acts as the returning browser.
package final class RedirectDouble: RedirectListener {
    package typealias Answer = @Sendable (RedirectParameters) async -> RedirectPage

    package struct Endpoint: RedirectEndpoint {
        package let redirectURI: String
        let closed: @Sendable () -> Void
        package func close() async { closed() }
    }

    private let answers = Mutex<[String: Answer]>([:])
    private let port = Mutex(50_000)
    private let forms = Mutex<[Bool]>([])

    package init() {}

    /// Whether a form was expected, for each wait.
    package var takesForms: [Bool] { forms.withLock { $0 } }

    package var isListening: Bool { answers.withLock { !$0.isEmpty } }

    package func open(
        _ target: RedirectTarget, for person: Partition, takesForm: Bool, answer: @escaping Answer
    ) async throws(RedirectError) -> any RedirectEndpoint {
        forms.withLock { $0.append(takesForm) }
        if case .fixed(_, 1, _) = target { throw .portInUse(1) }
        let uri = port.withLock { port in
            port += 1
            return switch target {
            case .fixed(let host, let fixed, let path): "http://\(host):\(fixed)\(path)"
            case .anyPort(let host, let path): "http://\(host):\(port)\(path)"
            }
        }
        answers.withLock { $0[uri] = answer }
        return Endpoint(redirectURI: uri) { self.answers.withLock { $0[uri] = nil } }
    }

    /// The browser returns with this query.
    package func visit(_ redirectURI: String, query: String) async -> RedirectPage? {
        await answers.withLock { $0[redirectURI] }?(RedirectParameters(query: query[...]))
    }
}
