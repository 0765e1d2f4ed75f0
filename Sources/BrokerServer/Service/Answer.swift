import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// The answer to a request. Each front writes it in its own protocol.
enum Answer: Sendable {
    /// The token's secrets are sealed: a front opens them from the vault while it writes.
    case token(AcquiredToken)
    indirect case watch(WatchStart)
    case value(any WireValue)
    case json([UInt8])
}

/// The answer to `token.watch`.
struct WatchStart: Sendable {
    /// Unique in its connection.
    let name: String
    /// The first token.
    let token: AcquiredToken
    /// Call when the answer is on its way.
    let begin: @Sendable () -> Void
}

/// An answer, and its text for the log.
struct CompletedWork: Sendable {
    let answer: Answer
    let outcome: RequestOutcome
}

/// The remaining work of a request.
enum Work<Output: Sendable>: Sendable {
    case done(Output)
    case waits(@Sendable () async throws(BrokerError) -> Output)
}

extension Work {
    /// The same work with another output. A check in the transformation applies to an answer now and to a later one.
    func map<Other>(
        _ transform: @escaping @Sendable (Output) throws(BrokerError) -> Other
    ) throws(BrokerError) -> Work<Other> {
        switch self {
        case .done(let output): .done(try transform(output))
        case .waits(let output): .waits { () throws(BrokerError) in try transform(try await output()) }
        }
    }
}

/// The facts of a token that answers have, in any protocol.
extension AcquiredToken: TokenFacts {
    package var writtenFacts: [UInt8] {
        lifetimeOf == .accessToken ? token.written { lastingFacts } : lastingFacts
    }
    package var writtenAccount: [UInt8] { person.written { person.account.written } }
    package var tokenType: TokenType { token.record.tokenType }
    package var expiresOn: NumericDate {
        lifetimeOf == .idToken ? idTokenEnd ?? token.record.expiresOn : token.record.expiresOn
    }
    package var extendedExpiresOn: NumericDate? {
        lifetimeOf == .accessToken ? token.record.extendedExpiresOn : nil
    }
    package var scopes: [String] { token.record.scopes }
    package var authority: String { token.record.authority }
}
