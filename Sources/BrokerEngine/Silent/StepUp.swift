import BrokerModel
import BrokerValues

extension InteractiveQuery {
    /// The query with the API's requirements, which take precedence over the app's.
    func raised(to stepUp: StepUp?) -> InteractiveQuery {
        guard let stepUp else { return self }
        var query = self
        query.acrValues = stepUp.acrValues + acrValues.filter { !stepUp.acrValues.contains($0) }
        query.maxAge = [maxAge, stepUp.maxAge].compactMap(\.self).min()
        return query
    }
}

extension SilentAcquisition {
    /// The answer if the API requires stronger authentication (RFC 9470): a refresh cannot bring that, but another app's sign-in
    /// may have brought it.
    func raised(to stepUp: StepUp, for request: SilentRequest) throws(BrokerError) -> AcquiredToken {
        let lookup = try lookups.look(at: request)
        if let rejected = request.rejectedToken, case .cached(let token) = lookup.decision,
            try !holds(token, rejected)
        {
            return lookups.answer(token, from: lookup)
        }
        if case .interact(let reason) = lookup.decision, reason != .idTokenExpired {
            throw missing.error(for: request, reason, lookup.owner).about(lookup.entry.account)
        }
        let how = [
            stepUp.acrValues.isEmpty
                ? nil : "by \(SafeText(stepUp.acrValues.joined(separator: " or "), atMost: 128).text)",
            stepUp.maxAge.map { "not longer ago than \(Int($0).inSeconds)" },
        ].compactMap(\.self).joined(separator: ", ")
        throw BrokerError(
            .interactionRequired,
            "The API requires the person to authenticate again\(how.isEmpty ? "" : ", \(how)"); sign in with the same challenge.",
            reason: .claimsChallenge
        ) { $0.claims = ClaimsText.merged(request.claims, stepUp.claims) }
        .about(lookup.entry.account)
    }
}
