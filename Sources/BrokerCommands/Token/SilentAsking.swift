import BrokerLink
import BrokerRPC
import BrokerValues

/// A silent token request. If it needs a person, the error names the command for the sign-in.
struct SilentTokenRequest {
    var params = AcquireTokenSilent.Params()
    /// The token's account; `nil` if only one account fits.
    var account: AccountName?
    /// The sign-in for this app: `brokerctl login …`.
    var login: [String]
    /// Further options for the sign-in.
    var demands: [String] = []
    /// As given on the command line.
    var claims: String?
    var challenge: String?

    /// - Returns: the broker's result, verbatim.
    func send(on connection: DirectConnection) throws(BrokerClientError) -> JSONNode {
        do throws(BrokerClientError) {
            guard let account else { return try sendForDefault(on: connection) }
            return try account.resolve { reference throws(BrokerClientError) in
                var params = params
                params.account = reference
                return try connection.result(of: AcquireTokenSilent.self, params)
            }
        } catch {
            var error = error
            switch error.code {
            case .interactionRequired: error.message += " To sign in: \(signIn(after: error))"
            case .ambiguousAccount where account == nil && params.account == nil:
                error.message += " Name it with --account, or choose one for good: brokerctl accounts default."
            default: break
            }
            throw error
        }
    }

    /// Uses the account that fits, or the chosen default if several do.
    private func sendForDefault(on connection: DirectConnection) throws(BrokerClientError) -> JSONNode {
        do throws(BrokerClientError) {
            return try connection.result(of: AcquireTokenSilent.self, params)
        } catch {
            guard error.code == .ambiguousAccount, params.account == nil, let app = params.selection.app,
                let chosen = defaultAccount(of: app, on: connection)
            else { throw error }
            var params = params
            params.account = .id(chosen)
            do throws(BrokerClientError) {
                return try connection.result(of: AcquireTokenSilent.self, params)
            } catch {
                guard error.code == .accountNotFound else { throw error }
                throw BrokerClientError(
                    .accountNotFound,
                    "The default account of \(app) is no longer signed in; choose another: brokerctl accounts default.",
                    cause: error)
            }
        }
    }

    /// - Returns: `nil` if there is none, or the caller may not see it.
    private func defaultAccount(of app: String, on connection: DirectConnection) -> String? {
        let params = ListAccounts.Params(.registered(app), includingSignedOut: true)
        return (try? connection.call(ListAccounts.self, params))?.defaultAccount
    }

    /// The sign-in command after which this request succeeds.
    private func signIn(after error: BrokerClientError) -> String {
        var words = login
        if let known = error.account, account != nil || params.account != nil {
            words += ["--account", known.username]
        }
        words += demands
        if let challenge {
            // With the claims that the provider returned, if it failed.
            words += ["--challenge", challenge]
            if let claims { words += ["--claims", claims] }
        } else if let claims = error.claimsChallenge ?? claims {
            words += ["--claims", claims]
        }
        return ShellText.command(words)
    }
}
