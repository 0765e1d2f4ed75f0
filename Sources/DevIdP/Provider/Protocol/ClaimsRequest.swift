/// A client's requirements for tokens in the `claims` parameter (OpenID Connect Core, section 5.5).
struct ClaimsRequest: Sendable, Equatable {
    let members: [String: JSON]

    static let none = ClaimsRequest(members: [:])

    private init(members: [String: JSON]) { self.members = members }

    init(_ text: String?) throws(OAuthFailure) {
        guard let text else {
            members = [:]
            return
        }
        guard let members = JSON(text: text)?.object, members.values.allSatisfy({ $0.object != nil }) else {
            throw OAuthFailure(.invalidRequest, "claims must be a JSON object of objects")
        }
        self.members = members
    }

    /// The claims requested in `id_token`, `userinfo` or `access_token`.
    func names(in place: String) -> Set<String> { Set(members[place]?.object.map { Array($0.keys) } ?? []) }

    /// The values that one claim may have, the preferred one first (section 5.5.1).
    func values(of claim: String, in place: String) -> [JSON] {
        guard let entry = members[place]?[claim] else { return [] }
        return entry["values"]?.array ?? entry["value"].map { [$0] } ?? []
    }

    /// Whether this request includes all claims of another one, and for a claim with values each of these.
    func covers(_ other: ClaimsRequest) -> Bool {
        other.members.allSatisfy { place, wishes in
            (wishes.object ?? [:]).keys.allSatisfy { claim in
                guard members[place]?[claim] != nil else { return false }
                let mine = values(of: claim, in: place)
                return other.values(of: claim, in: place).allSatisfy { mine.contains($0) }
            }
        }
    }

    /// The union of two requests; if both name a claim, the other one's takes precedence.
    func merged(with other: ClaimsRequest) -> ClaimsRequest {
        ClaimsRequest(
            members: members.merging(other.members) { mine, theirs in
                .object((mine.object ?? [:]).merging(theirs.object ?? [:]) { $1 })
            })
    }
}
