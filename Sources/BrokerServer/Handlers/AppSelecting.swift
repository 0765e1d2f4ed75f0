import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

extension AppReference {
    init(_ selection: AppSelection) {
        switch selection {
        case .registered(let name): self = .registered(name: name)
        case .adHoc(let clientID, let authority): self = .adHoc(clientID: clientID, authority: authority)
        }
    }

    /// The params' own check comes first, so nobody should meet this.
    static let missing = BrokerError(
        .invalidParameter, "The request names no app; give app, or clientId and authority.")
}

extension AccountReference {
    /// Nil for neither, which the params' own check refuses.
    var selector: AccountSelector? {
        if let id { return .id(id) }
        return username.map(AccountSelector.username)
    }

    func requiredSelector() throws(BrokerError) -> AccountSelector {
        guard let selector else {
            throw BrokerError(.invalidParameter, "The request names no account; give its id or its username.")
        }
        return selector
    }
}
