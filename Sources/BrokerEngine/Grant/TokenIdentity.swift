import BrokerModel
import BrokerValues

/// The person and tenant of a token response. Pure.
package struct TokenIdentity: Sendable, Equatable {
    package var homeAccountID: HomeAccountID
    /// The realm under which tokens are filed: the ID token's tenant if there are tenants, else the authority's path.
    package var realm: String

    package init(homeAccountID: HomeAccountID, realm: String) {
        self.homeAccountID = homeAccountID
        self.realm = realm
    }

    /// - Parameter clientInfo: Entra's description of the account's home.
    package init(_ claims: IDTokenClaims, clientInfo: String?, at authority: Authority) {
        let sent = clientInfo.flatMap(ClientInfo.init).map { HomeAccountID(userID: $0.userID, tenantID: $0.tenantID) }
        homeAccountID = authority.rules.home(of: claims, sent: sent)
        realm = authority.hasTenants ? claims["tid"]?.lowercased() ?? authority.path : authority.path
    }

    /// The identity in the response to a refresh.
    ///
    /// - Parameter account: the account whose refresh token was redeemed.
    /// - Returns: `nil` if the response is about another person. A guest's tenant that sends no `client_info` cannot be compared
    ///   with the account's home: there the refresh token itself identifies the account.
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
