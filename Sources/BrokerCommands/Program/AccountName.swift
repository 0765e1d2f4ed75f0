import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Names an account by id or username, because people copy either from a list.
struct AccountName: ArgumentValue, Sendable {
    let text: String

    init(argument: String) { text = argument }

    /// Both interpretations, the likelier first: ids are long and base64url, most usernames contain an `@`.
    var references: [AccountReference] {
        isLikelyID ? [.id(text), .username(text)] : [.username(text), .id(text)]
    }

    var isLikelyID: Bool {
        text.count >= 20 && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    }

    /// The account of that name.
    ///
    /// - Parameter app: the app whose accounts to search; `nil` for all.
    /// - Throws: ``BrokerClientError/Code/accountNotFound``.
    func find(
        among app: AppReference?, on connection: DirectConnection
    ) throws(BrokerClientError) -> (node: JSONNode, account: Account) {
        for reference in references {
            let node = try connection.result(of: GetAccount.self, .init(reference, of: app))
            if let found = try GetAccount.Result.decoded(node).account { return (node, found) }
        }
        throw BrokerClientError(
            .accountNotFound, "There is no account \(text); see brokerctl accounts list.")
    }

    /// The username of an id; the text itself if no account has it.
    func username(among app: AppReference?, on connection: DirectConnection) -> String {
        isLikelyID ? (try? find(among: app, on: connection))?.account.username ?? text : text
    }

    /// Tries each interpretation until one names an account.
    func resolve<Value>(
        _ ask: (AccountReference) throws(BrokerClientError) -> Value
    ) throws(BrokerClientError) -> Value {
        let (first, second) = (references[0], references[1])
        do throws(BrokerClientError) {
            return try ask(first)
        } catch {
            guard error.code == .accountNotFound else { throw error }
        }
        return try ask(second)
    }

    /// Tries each interpretation until one names an account.
    func resolve<Value>(
        _ ask: (AccountReference) async throws(BrokerClientError) -> Value
    ) async throws(BrokerClientError) -> Value {
        do throws(BrokerClientError) {
            return try await ask(references[0])
        } catch {
            guard error.code == .accountNotFound else { throw error }
        }
        return try await ask(references[1])
    }
}
