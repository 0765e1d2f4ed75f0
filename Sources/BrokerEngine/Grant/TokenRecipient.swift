import BrokerModel
import BrokerValues

/// The app that gets the tokens of a response, and its request.
struct TokenRecipient: Sendable {
    let app: AppRegistration
    let partition: Partition
    /// The resources for which the token was requested.
    let resources: [String]
    /// The type that the app requested.
    let tokenType: TokenType

    init(_ request: some TokenRequest) {
        (app, partition) = (request.app, request.partition)
        (resources, tokenType) = (request.query.resources, request.query.tokenType)
    }
}
