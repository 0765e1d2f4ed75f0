import BrokerModel
import BrokerValues

/// A registered app, and the one that would take its name. Pure.
struct AppReplacement {
    var before: AppRecord
    var after: AppRegistration

    /// The parts of the registration that the app would lose, in words for a person.
    var losses: [String] {
        let (old, new) = (before.description, after.description)
        var losses: [String] = []
        if before.isConfidential && after.clientSecret == nil { losses.append("its client secret") }
        if let group = old.group, group != new.group { losses.append("its place in the group \(group)") }
        let callers = [
            (old.executables, new.executables), (old.units, new.units), (old.sandboxIDs, new.sandboxIDs),
        ].flatMap { Set($0).subtracting($1).sorted() }
        if !callers.isEmpty { losses.append("its list of callers (\(callers.joined(separator: ", ")))") }
        if old.allowedScopes != nil, new.allowedScopes == nil { losses.append("its limit of scopes") }
        return losses
    }

    var refusal: BrokerError {
        let losses = losses
        let drop = losses.isEmpty ? "" : " would drop \(losses.joined(separator: " and ")), and"
        return BrokerError(
            .invalidParameter,
            """
            An app of this name is registered already. Change it with brokerctl apps edit; replacing it (--replace)\(drop) \
            takes effect at once.
            """
        ) { $0.app = before.name }
    }
}

extension AppRegistration {
    /// The app with the client secret of the registered one, unless it has a secret of its own. A secret belongs to its client at
    /// its provider, and is kept for no other.
    ///
    /// - Parameter before: `nil` for an app that is unusable with the current providers.
    /// - Throws: `invalidParameter` if the client or the authority differs.
    func keepingSecret(of before: AppRegistration?) throws(BrokerError) -> AppRegistration {
        guard clientSecret == nil else { return self }
        guard let before, description.clientID.isExactly(before.description.clientID), authority == before.authority
        else {
            throw BrokerError(
                .invalidParameter,
                "The client secret is for the client and the authority that were registered; give the new client's own."
            )
        }
        var copy = self
        (copy.clientSecret, copy.secretMethod) = (before.clientSecret, secretMethod ?? before.secretMethod)
        return copy
    }
}
