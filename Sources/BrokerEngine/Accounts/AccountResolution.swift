import BrokerValues

extension Sequence {
    /// The element that a selector means among those it names: the only one signed in or, if none is, the only one. Never picks one
    /// just because it comes first.
    ///
    /// - Parameter account: with ``Account/signedIn`` from the caller's point of view.
    /// - Returns: `nil` if the selector names nobody.
    /// - Throws: `ambiguousAccount` with the choices.
    func uniqueMatch(_ account: (Element) -> Account) throws(BrokerError) -> (who: Element, isSignedIn: Bool)? {
        let named = map { (who: $0, account: account($0)) }
        let signedIn = named.filter(\.account.signedIn)
        let choices = signedIn.isEmpty ? named : signedIn
        guard let first = choices.first else { return nil }
        guard choices.allSatisfy({ $0.account.id == first.account.id }) else {
            throw AccountChoice.ambiguous(choices.map(\.account))
        }
        return (first.who, !signedIn.isEmpty)
    }
}
