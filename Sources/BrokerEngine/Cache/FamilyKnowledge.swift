import BrokerModel
import BrokerValues

/// Whether a client may spend the refresh tokens of a family (MSAL, "FOCI").
package enum FamilyMembership: Sendable, Equatable {
    /// Nobody knows: one try tells.
    case unknown
    case outsider
    case member(of: String)

    package init(_ record: AppMetadataRecord?) {
        guard let record else {
            self = .unknown
            return
        }
        self = record.familyID.map(Self.member) ?? .outsider
    }

    /// - Parameter spent: the refresh token that the answer was given for; nil after a sign-in.
    /// - Returns: what is to be known from now on; nil when the answer says nothing new.
    package static func learnt(
        from response: TokenResponse, spent: RefreshTokenRecord?, known: FamilyMembership
    ) -> FamilyMembership? {
        var news: FamilyMembership?
        if let family = response.familyID, !family.isEmpty {
            news = .member(of: family)
        } else if let family = spent?.familyID {
            news = .member(of: family)
        } else if case .member = known, response.refreshToken != nil {
            news = .outsider
        }
        return news == known ? nil : news
    }
}

/// What a request knows of families: the client's membership, and the tokens of the account that its group holds.
package struct FamilyKnowledge: Sendable {
    package var membership: FamilyMembership
    package var tokens: [StoredRecord<RefreshTokenRecord>]

    package init(_ membership: FamilyMembership = .unknown, tokens: [StoredRecord<RefreshTokenRecord>] = []) {
        self.membership = membership
        self.tokens = tokens
    }

    /// The family tokens that this client may try.
    package var spendable: [StoredRecord<RefreshTokenRecord>] {
        switch membership {
        case .unknown: tokens
        case .outsider: []
        case .member(let family): tokens.filter { $0.record.familyID == family }
        }
    }
}
