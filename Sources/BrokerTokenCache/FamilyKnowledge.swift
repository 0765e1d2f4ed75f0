import BrokerModel
import BrokerValues

/// Whether a client may redeem the refresh tokens of a family (MSAL, "FOCI").
package enum FamilyMembership: Sendable, Equatable {
    /// It is not known; an attempt to redeem a family's token shows it.
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

    /// - Parameter spent: the refresh token that was redeemed; `nil` after a sign-in.
    /// - Returns: the new knowledge; `nil` if the response adds nothing.
    package static func learned(
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

/// A request's knowledge of families: the client's membership, and the account's family tokens in its group.
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
