/// The next step of a sign-in. Pure: the arguments contain all that the person did so far.
enum AuthorizationStep: Equatable {
    case signIn(username: String?)
    case choose([String])
    case create
    case consent(username: String)
    case issue(SignedInAccount)
    case refuse(OAuthFailure)

    /// - Parameters:
    ///   - transaction: the request and the person's actions so far.
    ///   - accounts: the accounts signed in in this browser.
    ///   - hinted: the person in `id_token_hint` or `login_hint`.
    ///   - needsConsent: whether a person has yet to consent to the request's scopes.
    ///   - now: seconds since 1970.
    static func next(
        _ transaction: Transaction, accounts: [SignedInAccount], hinted: String?, needsConsent: (String) -> Bool,
        now: Int
    ) -> AuthorizationStep {
        let request = transaction.request
        let asksNothing = request.prompts.contains(.none)

        if request.prompts.contains(.create), !transaction.typedPassword { return .create }
        if request.prompts.contains(.selectAccount), transaction.chosen == nil, !accounts.isEmpty {
            return .choose(accounts.map(\.username))
        }
        let wanted = transaction.chosen ?? hinted
        if request.prompts.contains(.login), !transaction.typedPassword {
            return .signIn(username: wanted ?? (accounts.count == 1 ? accounts.first?.username : nil))
        }
        if wanted == nil, accounts.count > 1 {
            guard !asksNothing else {
                return .refuse(OAuthFailure(.accountSelectionRequired, "several people are signed in"))
            }
            return .choose(accounts.map(\.username))
        }
        guard let account = accounts.first(where: { wanted == nil || $0.username == wanted }),
            transaction.typedPassword || now - account.authenticatedAt <= request.maxAge ?? .max
        else {
            return asksNothing
                ? .refuse(OAuthFailure(.loginRequired, "no suitable account is signed in")) : .signIn(username: wanted)
        }
        let asksConsent = needsConsent(account.username) || request.prompts.contains(.consent)
        if asksConsent, transaction.consentedScopes == nil {
            return asksNothing
                ? .refuse(OAuthFailure(.consentRequired, "the person has not agreed yet"))
                : .consent(username: account.username)
        }
        return .issue(account)
    }
}
