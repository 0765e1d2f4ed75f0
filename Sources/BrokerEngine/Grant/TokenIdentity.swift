import BrokerModel
import BrokerValues

/// Whom a token answer is about, and in which tenant. Pure.
package struct TokenIdentity: Sendable, Equatable {
    package var homeAccountID: HomeAccountID
    /// What tokens are filed under: the ID token's tenant where there are tenants, else the authority's path.
    package var realm: String

    package init(homeAccountID: HomeAccountID, realm: String) {
        self.homeAccountID = homeAccountID
        self.realm = realm
    }

    /// - Parameter clientInfo: Entra's word on the account's home.
    package init(_ claims: IDTokenClaims, clientInfo: String?, at authority: Authority) {
        let told = clientInfo.flatMap(ClientInfo.init).map { HomeAccountID(userID: $0.userID, tenantID: $0.tenantID) }
        homeAccountID = authority.rules.home(of: claims, told: told)
        realm = authority.hasTenants ? claims["tid"]?.lowercased() ?? authority.path : authority.path
    }

    /// Of a refreshed token.
    ///
    /// - Parameter account: whose refresh token was spent.
    /// - Returns: nil when the answer is about another person. A guest's tenant that sends no `client_info` cannot be held
    ///   against the account's home: there the refresh token itself says whose it is.
    package init?(
        refreshed claims: IDTokenClaims, clientInfo: String?, of account: AccountRecord, at authority: Authority
    ) {
        self.init(claims, clientInfo: clientInfo, at: authority)
        if homeAccountID == account.homeAccountID { return }
        guard authority.hasTenants, clientInfo.flatMap(ClientInfo.init) == nil,
            let home = account.homeAccountID.homeTenant, realm != home
        else { return nil }
        homeAccountID = account.homeAccountID
    }
}
