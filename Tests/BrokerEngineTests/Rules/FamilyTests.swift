import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Family refresh tokens")
struct FamilyTests {
    private func familyToken(_ family: String = "1") -> StoredRecord<RefreshTokenRecord> {
        Sample.stored(
            RefreshTokenRecord(
                owner: Sample.owner().ofFamilies, familyID: family, authority: Sample.authority().url,
                scopes: ["openid", "offline_access", "mail.read"], cachedAt: Sample.now))
    }

    private func spendable(_ knowledge: FamilyKnowledge, ownToken: Bool = false) -> [String?] {
        let question = CacheQuestion(
            scopes: Scopes(["a"]), realm: "realm", rule: ExpiryRule(now: Sample.now, buffer: 300))
        switch SilentDecision.decide(question, from: Sample.tokens([], refreshToken: ownToken), family: knowledge) {
        case .refresh(let tokens): return tokens.map(\.record.familyID)
        default: return []
        }
    }

    @Test("the app's own token is tried before the family's")
    func order() {
        let knowledge = FamilyKnowledge(.member(of: "1"), tokens: [familyToken()])
        #expect(spendable(knowledge, ownToken: true) == [nil, "1"])
        #expect(spendable(knowledge) == ["1"])
    }

    @Test("a member redeems only its own family's token, a non-member none, and an unknown client tries")
    func membership() {
        let tokens = [familyToken("1"), familyToken("2")]
        #expect(spendable(FamilyKnowledge(.member(of: "2"), tokens: tokens)) == ["2"])
        #expect(spendable(FamilyKnowledge(.outsider, tokens: tokens)) == [])
        #expect(spendable(FamilyKnowledge(.unknown, tokens: tokens)) == ["1", "2"])
    }

    @Test(
        "foci in a response or a working family token makes a member, and a later response without foci ends it"
    )
    func learning() {
        func learned(_ family: String?, spent: RefreshTokenRecord? = nil, known: FamilyMembership) -> FamilyMembership?
        {
            FamilyMembership.learned(
                from: TokenResponse(accessToken: Secret("at"), refreshToken: Secret("rt"), familyID: family),
                spent: spent, known: known)
        }
        #expect(learned("1", known: .unknown) == .member(of: "1"))
        #expect(learned("1", known: .member(of: "1")) == nil)
        #expect(learned(nil, spent: familyToken().record, known: .unknown) == .member(of: "1"))
        #expect(learned(nil, known: .member(of: "1")) == .outsider)
        #expect(learned(nil, known: .unknown) == nil)
    }

    @Test("only the scopes that the broker adds are carried over from another app's grant")
    func earlierGrant() {
        #expect(ScopeRules.earlierGrant(of: familyToken().record).asGiven == ["openid", "offline_access"])
        var own = familyToken().record
        own.familyID = nil
        #expect(ScopeRules.earlierGrant(of: own).asGiven == ["openid", "offline_access", "mail.read"])
    }

    @Test("a redeemed token is not mistaken for its successor under the same key")
    func removal() {
        var tokens = CachedTokens()
        let old = familyToken()
        let new = StoredRecord(
            record: old.record,
            sealed: SealedRecord(
                partition: Sample.partition, kind: .refreshToken, rowKey: old.sealed.rowKey, bucketKey: [], box: [9]))
        tokens.apply(.put(old))
        tokens.apply(.put(new))
        #expect(tokens.familyTokens.count == 1)
        #expect(!tokens.holds(old))
        #expect(tokens.holds(new))
        tokens.apply(.delete(new))
        #expect(tokens.familyTokens.isEmpty)
    }
}
