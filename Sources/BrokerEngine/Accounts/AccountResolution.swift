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

extension KnownAccounts {
    /// The people whom a request can be for, as they were first seen. Lazy: part of the hot path.
    ///
    /// - Parameter otherClouds: environments whose accounts fit as well (``CloudRules``).
    func people(at authority: Authority, otherClouds: Set<String>) -> LazyFilterSequence<[Entry]> {
        entries.lazy.filter { $0.isPrimary && $0.fits(authority, otherClouds) }
    }
}

extension KnownAccounts.Entry {
    /// Where there are tenants, an account of the same cloud fits whatever tenant is asked for; elsewhere a host may have
    /// several issuers, told apart by their paths.
    func fits(_ authority: Authority, _ otherClouds: Set<String>) -> Bool {
        let environment = stored.record.environment
        guard environment == authority.environment || otherClouds.contains(environment) else { return false }
        return authority.hasTenants ? isTenantProfile : stored.record.realm == authority.path
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
