import BrokerValues

extension Sequence {
    /// Whom a selector means, of those whom it names: the only one who is signed in; where nobody is, the only one. Nobody is
    /// taken because they come first.
    ///
    /// - Parameter account: with ``Account/signedIn`` as it is for whoever asks.
    /// - Returns: nil where it names nobody.
    /// - Throws: `ambiguousAccount` with the choices.
    func theOne(_ account: (Element) -> Account) throws(BrokerError) -> (who: Element, isSignedIn: Bool)? {
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
