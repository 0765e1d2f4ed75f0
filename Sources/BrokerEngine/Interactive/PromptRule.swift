import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The `prompt` of a sign-in (MSAL, "Interactive"). Pure.
package enum PromptRule {
    /// The prompt to send. After a sign-out of the account it is `login`, so that the person has to authenticate even if the
    /// browser still has a session. Consent is requested on top of a sign-in, and a new account has no sign-out, so `consent` and
    /// `create` stay.
    ///
    /// - Throws: `interactionRequired` if a prompt is forbidden but needed.
    package static func prompt(asked: Prompt?, isSignedOut: Bool) throws(BrokerError) -> Prompt? {
        guard isSignedOut else { return asked }
        switch asked {
        case .consent, .create: return asked
        case nil, .login, .selectAccount: return .login
        case .some(.none):
            throw BrokerError(
                .interactionRequired, "The account is signed out; sign in again, without prompt \"none\".",
                reason: .signedOut)
        }
    }

    /// Whether a sign-in without a particular account counts as one after a sign-out: when all accounts are signed out, nobody
    /// expects to be signed in again by a click.
    ///
    /// - Parameters:
    ///   - known: the accounts of the app's group.
    ///   - otherClouds: further clouds where its people may be at home.
    package static func isEverybodySignedOut(
        among known: KnownAccounts, for app: AppRegistration, at authority: Authority, otherClouds: Set<String> = []
    ) -> Bool {
        let here = known.entries.filter { $0.fits(authority, otherClouds) }
        // An account that was only removed from an app still has its browser session.
        return here.contains { !$0.stored.record.signedIn } && !here.contains { known.isSignedIn($0, for: app) }
    }
}
