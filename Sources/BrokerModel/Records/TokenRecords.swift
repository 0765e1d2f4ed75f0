import BrokerValues

/// Whose tokens a bucket holds: one client of one group, for one person, at one provider.
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

    /// Where the family refresh tokens of the same account are kept, for every client of the group that may spend them.
    /// No client has an empty id.
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
    /// The provider named more scopes than are kept. Absent means that these are all.
    package var isGoodForMore: Bool?
    package var tokenType: TokenType
    package var authority: String
    package var expiresOn: NumericDate
    package var extendedExpiresOn: NumericDate?
    package var refreshOn: NumericDate?
    package var cachedAt: NumericDate
    /// RFC 7638 thumbprint of the key that a DPoP token is bound to.
    package var keyThumbprint: String?
    /// The refresh token of its sign-in was found dead. It is handed out until its end, or until the person signs in anew.
    package var isOfEndedSignIn: Bool?
    /// Where the token is good (RFC 8707), sorted; nil when the request named no resource.
    package var resources: [String]?
    /// What an imported record had besides; kept, not used, until another token takes its place.
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
    /// The same scopes mean other things at another resource.
    package var item: [String] {
        [realm, tokenType.rawValue, Scopes(scopes).normalized.joined(separator: " ")] + (resources ?? [])
    }
}

/// A refresh token, without a realm: it is good for every tenant of its account (unified cache schema, `RefreshToken`).
package struct RefreshTokenRecord: VaultRecord, Equatable {
    package static let kind = RecordKind.refreshToken
    package var owner: TokenOwner
    package var familyID: String?
    package var authority: String
    /// Scopes of the grant it came from.
    package var scopes: [String]
    /// As ``AccessTokenRecord/isGoodForMore``.
    package var isGoodForMore: Bool?
    /// The person's sign-in named resources (RFC 8707): where none is named with a refresh, what comes may be good at any of them
    /// (section 2.2).
    package var namesResources: Bool?
    package var cachedAt: NumericDate
    /// RFC 7638 thumbprint of the key that the token is bound to (RFC 9449, section 5).
    package var keyThumbprint: String?
    /// Bound, and came with a bearer token: it brings such ones (decision 165).
    package var givesBearer: Bool?
    /// When the token was sent and no answer came: the provider may have replaced it by one that nobody has.
    package var unansweredAt: NumericDate?
    /// When the token was refused and no reason given, or while it was reusable. The second such answer in a row ends it.
    package var refusedAt: NumericDate?
    /// The provider let the token live when it was used (decision 121). Absent means that this was not seen.
    package var isReusable: Bool?
    /// What the refresh that brought the token asked for, when that was less than the grant.
    package var narrowedTo: [String]?
    /// The provider was seen to refuse scopes that the person had granted and an earlier refresh had left out: it narrows
    /// the grant with each refresh. Absent means that nothing of the kind was seen.
    package var grantNarrows: Bool?
    /// Of an imported token and its successors: the same in every group that the token came to.
    package var origin: String?
    /// What an imported record had besides; kept, not used. A successor of the same grant takes it on.
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
    /// A bound token is kept beside one that is not: each is good for tokens of its own type only, save where
    /// ``givesBearer`` says otherwise.
    package var item: [String] { [familyID ?? ""] + (keyThumbprint == nil ? [] : ["DPoP"]) }
}

/// The ID token as received; the secret is the token (unified cache schema, `IdToken`).
package struct IDTokenRecord: VaultRecord {
    package static let kind = RecordKind.idToken
    package var owner: TokenOwner
    package var realm: String
    package var cachedAt: NumericDate
    /// Nil where it is not known.
    package var expiresOn: NumericDate?
    /// What an imported record had besides; kept, not used, until another token takes its place.
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
