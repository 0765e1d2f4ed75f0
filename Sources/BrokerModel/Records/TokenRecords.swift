import BrokerValues

/// The owner of a bucket of tokens: one client of one group, for one user, at one provider.
package struct TokenOwner: Sendable, Hashable, Codable {
    package var group: GroupID
    package var clientID: String
    package var homeAccountID: HomeAccountID
    package var environment: String

    package init(group: GroupID, clientID: String, homeAccountID: HomeAccountID, environment: String) {
        self.group = group
        self.clientID = clientID
        self.homeAccountID = homeAccountID
        self.environment = environment
    }

    package static func == (left: TokenOwner, right: TokenOwner) -> Bool {
        left.group == right.group && ExactText(left.clientID) == ExactText(right.clientID)
            && left.homeAccountID == right.homeAccountID && left.environment == right.environment
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(group)
        hasher.combine(ExactText(clientID))
        hasher.combine(homeAccountID)
        hasher.combine(environment)
    }

    package var bucket: [String] { [group.rawValue, clientID, homeAccountID.rawValue, environment] }

    /// The bucket of the same account's family refresh tokens, for every client of the group that may use them. No client has an
    /// empty id.
    package var ofFamilies: TokenOwner {
        var owner = self
        owner.clientID = ""
        return owner
    }
}

/// An access token; the secret is the token itself (unified cache schema, `AccessToken`).
package struct AccessTokenRecord: VaultRecord {
    package static let kind = RecordKind.accessToken
    package var owner: TokenOwner
    /// Tenant of the token (Entra) or the authority's path; compared exactly.
    package var realm: String
    /// Scopes granted, as the provider spelled them.
    package var scopes: [String]
    /// The provider granted more scopes than are kept. Absent means that these are all.
    package var isGoodForMore: Bool?
    package var tokenType: TokenType
    package var authority: String
    package var expiresOn: NumericDate
    package var extendedExpiresOn: NumericDate?
    package var refreshOn: NumericDate?
    package var cachedAt: NumericDate
    /// RFC 7638 thumbprint of the key that a DPoP token is bound to.
    package var keyThumbprint: String?
    /// The refresh token of its sign-in is no longer valid. It is used until its end, or until the user signs in again.
    package var isOfEndedSignIn: Bool?
    /// The resources of the token (RFC 8707), sorted; `nil` if the request named none.
    package var resources: [String]?
    /// Other fields of an imported record; kept, not used, until another token replaces it.
    package var extra: JSONObject?

    package init(
        owner: TokenOwner, realm: String, scopes: [String], tokenType: TokenType, authority: String,
        expiresOn: NumericDate, extendedExpiresOn: NumericDate? = nil, refreshOn: NumericDate? = nil,
        cachedAt: NumericDate, keyThumbprint: String? = nil, resources: [String] = []
    ) {
        self.owner = owner
        self.realm = realm
        self.scopes = scopes
        self.tokenType = tokenType
        self.authority = authority
        self.expiresOn = expiresOn
        self.extendedExpiresOn = extendedExpiresOn
        self.refreshOn = refreshOn
        self.cachedAt = cachedAt
        self.keyThumbprint = keyThumbprint
        self.resources = resources.isEmpty ? nil : resources
    }

    package var bucket: [String] { owner.bucket }
    /// The same scopes have other meanings at another resource.
    package var item: [String] {
        [realm, tokenType.rawValue, Scopes(scopes).normalized.joined(separator: " ")] + (resources ?? [])
    }
}

/// A refresh token, without a realm: it is valid for every tenant of its account (unified cache schema, `RefreshToken`).
package struct RefreshTokenRecord: VaultRecord, Equatable {
    package static let kind = RecordKind.refreshToken
    package var owner: TokenOwner
    package var familyID: String?
    package var authority: String
    /// Scopes of its original grant.
    package var scopes: [String]
    /// The same as ``AccessTokenRecord/isGoodForMore``.
    package var isGoodForMore: Bool?
    /// The user's sign-in named resources (RFC 8707): if a refresh names none, the token may be valid for any of them (section
    /// 2.2).
    package var namesResources: Bool?
    package var cachedAt: NumericDate
    /// RFC 7638 thumbprint of the key that the token is bound to (RFC 9449, section 5).
    package var keyThumbprint: String?
    /// Bound, and issued with a bearer token: it returns bearer tokens (decision 14).
    package var givesBearer: Bool?
    /// When the token was sent without receiving a response: the provider may have replaced it by a token that was lost.
    package var unansweredAt: NumericDate?
    /// When the token was refused without a reason, or while it was reusable. The second such response in a row ends it.
    package var refusedAt: NumericDate?
    /// The token stayed valid after it was used (decision 19). Absent means that this was not observed.
    package var isReusable: Bool?
    /// The scopes of the refresh that returned the token, if they were fewer than the grant's.
    package var narrowedTo: [String]?
    /// The provider refused scopes that the user had granted and an earlier refresh had left out: it narrows the grant with each
    /// refresh. Absent means that this was not observed.
    package var grantNarrows: Bool?
    /// The nonce of the sign-in that the token comes from. Absent means that it is unknown: for tokens of imports,
    /// families, device codes and sign-ins from before records kept it, and for their successors.
    package var nonce: String?
    /// For an imported token and its successors: the same in every group with a copy of the token.
    package var origin: String?
    /// Other fields of an imported record; kept, not used. A successor of the same grant inherits them.
    package var extra: JSONObject?

    package init(
        owner: TokenOwner, familyID: String? = nil, authority: String, scopes: [String], cachedAt: NumericDate,
        keyThumbprint: String? = nil
    ) {
        self.owner = owner
        self.familyID = familyID
        self.authority = authority
        self.scopes = scopes
        self.cachedAt = cachedAt
        self.keyThumbprint = keyThumbprint
    }

    package var bucket: [String] { owner.bucket }
    /// A bound token is kept in addition to an unbound one: each works for tokens of its own type only, unless ``givesBearer`` is
    /// set.
    package var item: [String] { [familyID ?? ""] + (keyThumbprint == nil ? [] : ["DPoP"]) }
}

/// The ID token as received; the secret is the token (unified cache schema, `IdToken`).
package struct IDTokenRecord: VaultRecord {
    package static let kind = RecordKind.idToken
    package var owner: TokenOwner
    package var realm: String
    package var cachedAt: NumericDate
    /// `nil` if unknown.
    package var expiresOn: NumericDate?
    /// Other fields of an imported record; kept, not used, until another token replaces it.
    package var extra: JSONObject?

    package init(owner: TokenOwner, realm: String, cachedAt: NumericDate, expiresOn: NumericDate? = nil) {
        self.owner = owner
        self.realm = realm
        self.cachedAt = cachedAt
        self.expiresOn = expiresOn
    }

    package var bucket: [String] { owner.bucket }
    package var item: [String] { [realm] }
}

/// The key pair that an owner's DPoP tokens are bound to; the secret is the private key (RFC 9449).
package struct ProofKeyRecord: VaultRecord {
    package static let kind = RecordKind.proofKey
    package var owner: TokenOwner
    /// RFC 7638.
    package var thumbprint: String
    package var createdAt: NumericDate

    package init(owner: TokenOwner, thumbprint: String, createdAt: NumericDate) {
        self.owner = owner
        self.thumbprint = thumbprint
        self.createdAt = createdAt
    }

    package var bucket: [String] { owner.bucket }
    package var item: [String] { [] }
}
