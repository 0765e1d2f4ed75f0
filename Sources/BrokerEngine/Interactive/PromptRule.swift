import BrokerModel
import BrokerValues

/// How the person is asked (MSAL, "Interactive"). Pure.
package enum PromptRule {
    /// After a sign-out of the account the person has to prove who they are, whatever session their browser still has.
    /// Consent is asked for on top of a sign-in, and a new account is nobody's sign-out: those stay as they are.
    ///
    /// - Throws: `interactionRequired` when nobody may be asked, and somebody would have to be.
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

    /// Whether a sign-in of nobody in particular counts as one after a sign-out: when everybody has signed out, nobody
    /// expects to be signed in again by a click.
    ///
    /// - Parameters:
    ///   - known: the app's group.
    ///   - otherClouds: where its people may be at home as well.
    package static func isEverybodySignedOut(
        among known: KnownAccounts, for app: AppRegistration, at authority: Authority, otherClouds: Set<String> = []
    ) -> Bool {
        let here = known.entries.filter { $0.fits(authority, otherClouds) }
        // An account that was only removed from an app has not said goodbye to the browser.
        return here.contains { !$0.stored.record.signedIn } && !here.contains { known.isSignedIn($0, for: app) }
    }
}
