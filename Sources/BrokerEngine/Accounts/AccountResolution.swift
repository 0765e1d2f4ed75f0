import BrokerModel
import BrokerValues

extension Sequence {
    /// Whom a name means that may be several people's: the first who is signed in, else the first. In one pass.
    func resolve(_ isSignedIn: (Element) -> Bool) -> (who: Element, isSignedIn: Bool)? {
        var first: Element?
        for candidate in self {
            if isSignedIn(candidate) { return (candidate, true) }
            first = first ?? candidate
        }
        return first.map { ($0, false) }
    }
}

extension EngineServices {
    /// - Parameter accounts: whom one selector names.
    func warnOfNamesakes(_ accounts: some Sequence<Account>) {
        let ids = accounts.map(\.id)
        guard Set(ids).count > 1 else { return }
        log.warning(
            "several accounts have one username; the first that is signed in is taken", metadata: ["accounts": "\(ids)"]
        )
    }
}
