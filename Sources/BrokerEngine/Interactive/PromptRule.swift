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
}
