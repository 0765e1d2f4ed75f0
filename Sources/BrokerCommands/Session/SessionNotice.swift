import BrokerLink
import BrokerRPC
import BrokerValues

/// A question to the user at the desktop.
package struct SessionNotice: Sendable, Equatable {
    /// The subject. Each has one notice, which is withdrawn when the matter is settled elsewhere.
    package enum Topic: Sendable, Hashable {
        /// A caller requests an app: the id of its request.
        case grant(String)
        /// The provider ended a sign-in: the account's id.
        case signIn(String)
        /// A program on another machine opened a page here: the interaction's id.
        case page(String)

        var id: String {
            switch self {
            case .grant(let id), .signIn(let id), .page(let id): id
            }
        }
    }

    package enum Answer: Sendable, Equatable {
        case deny(request: String)
        /// - lifetime: seconds; `nil` for as long as the rules allow.
        case allow(request: String, lifetime: Int64?)
        case signIn(app: String, accountID: String, scopes: [String])
    }

    package struct Choice: Sendable, Equatable {
        package var label: String
        package var answer: Answer
    }

    package var topic: Topic
    package var title: String
    package var text: String
    package var choices: [Choice]
}
