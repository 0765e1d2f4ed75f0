import BrokerValues

/// The value of a `WWW-Authenticate` header, which an app passes on from a resource server.
func readChallenge(_ bytes: UnsafeRawBufferPointer) {
    let header = String(decoding: bytes, as: UTF8.self)
    let challenge: ResourceChallenge
    do throws(ResourceChallenge.Unreadable) { challenge = try ResourceChallenge(header) } catch {
        precondition(!mustAccept, "a valid seed was refused")
        let isShown = error.problem.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        precondition(
            isShown && error.problem.utf8.count < 2_048, "a server's text with a control character, or without an end")
        return
    }
    precondition(
        challenge.scopes.count <= 100
            && challenge.scopes.allSatisfy { scope in
                !scope.isEmpty && scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            }, "a scope that breaks a request")
    if let claims = challenge.claims { precondition(JSONObject(json: claims.utf8) != nil, "claims that are no object") }
    if let stepUp = challenge.stepUp {
        precondition(stepUp.acrValues.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
        precondition(stepUp.maxAge.map { $0 >= 0 } ?? true)
        if let claims = stepUp.claims { precondition(JSONObject(json: claims.utf8) != nil) }
    }
    if let resource = challenge.resource { precondition(challenge.isFrom(resource), "a resource that is not itself") }
}
