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

    /// - Parameter clientInfo: Entra's word on the account's home; the ID token names the person as the tenant knows them,
    ///   which is somebody else for a guest.
    package init(_ claims: IDTokenClaims, clientInfo: String?, at authority: Authority) {
        homeAccountID = Self.home(claims, clientInfo, authority)
        realm = authority.kind.hasTenants ? claims["tid"]?.lowercased() ?? authority.path : authority.path
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
        guard authority.kind.hasTenants, clientInfo.flatMap(ClientInfo.init) == nil,
            let home = account.homeAccountID.homeTenant, realm != home
        else { return nil }
        homeAccountID = account.homeAccountID
    }

    private static func home(
        _ claims: IDTokenClaims, _ clientInfo: String?, _ authority: Authority
    ) -> HomeAccountID {
        if authority.kind.isEntraFamily {
            if let info = clientInfo.flatMap(ClientInfo.init) {
                return HomeAccountID(userID: info.userID, tenantID: info.tenantID)
            }
            if let object = claims["oid"], !object.isEmpty, let tenant = claims["tid"], !tenant.isEmpty {
                return HomeAccountID(userID: object, tenantID: tenant)
            }
        }
        return HomeAccountID(subject: claims.subject, issuer: claims.issuer)
    }
}
