import BrokerModel
import BrokerValues

/// Which account a request is for. Pure: the answer follows from what is known about the group.
package enum AccountChoice: Sendable {
    case account(KnownAccounts.Entry)
    case unknown
    /// Who would be meant, were they signed in.
    case signedOut([Account])
    case nobody
    case ambiguous([Account])

    /// - Parameters:
    ///   - selector: as the caller named it; nil means "the one that fits".
    ///   - app: whose sign-outs count.
    ///   - authority: where a token is wanted; an account of another provider does not fit.
    ///   - otherClouds: environments whose accounts fit as well (``CloudRules``).
    package static func choose(
        _ selector: AccountSelector?, from known: KnownAccounts, for app: AppRegistration, at authority: Authority,
        otherClouds: Set<String> = []
    ) -> AccountChoice {
        let here = known.entries.filter { $0.isPrimary && $0.fits(authority, otherClouds) }
        if let selector {
            // One name may have been several people's; whoever is signed in is meant.
            let called = here.filter { $0.matches(selector) }
            guard !called.isEmpty else { return .unknown }
            return called.first { known.isSignedIn($0, for: app) }.map(AccountChoice.account)
                ?? .signedOut(called.map(\.account))
        }
        let signedIn = here.filter { known.isSignedIn($0, for: app) }
        if let entry = signedIn.first, signedIn.count == 1 { return .account(entry) }
        if signedIn.isEmpty { return here.isEmpty ? .nobody : .signedOut(here.map(\.account)) }
        return .ambiguous(signedIn.map(\.account))
    }

    package func resolved(for app: AppRegistration) throws(BrokerError) -> KnownAccounts.Entry {
        switch self {
        case .account(let entry): return entry
        case .unknown: throw Self.notFound
        case .signedOut(let accounts):
            throw BrokerError(
                .interactionRequired, "The account is signed out of \(app.name); sign in again.", reason: .signedOut
            ) {
                $0.accounts = accounts.map { account in
                    var account = account
                    account.signedIn = false
                    return account
                }
            }
        case .nobody:
            throw BrokerError(
                .interactionRequired, "Nobody is signed in to \(app.name) yet; sign in first.", reason: .noTokens)
        case .ambiguous(let accounts):
            throw BrokerError(.ambiguousAccount, "Several accounts are signed in; say which one is meant.") {
                $0.accounts = accounts
            }
        }
    }

    package static let notFound = BrokerError(
        .accountNotFound, "This app has no such account; list the accounts it has, or sign in.")
}

extension KnownAccounts.Entry {
    /// Where there are tenants, an account of the same cloud fits whatever tenant is asked for.
    fileprivate func fits(_ authority: Authority, _ otherClouds: Set<String>) -> Bool {
        let environment = stored.record.environment
        guard environment == authority.environment || otherClouds.contains(environment) else { return false }
        return authority.kind.hasTenants ? isTenantProfile : stored.record.realm == authority.path
    }
}
