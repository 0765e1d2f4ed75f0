import BrokerValues

/// Written member by member: a program that sends one request would spend a third of its own time on creating the table's key
/// paths. A test compares it with ``members``.
extension AcquireTokenSilent.Params {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("app", selection.app)
            writer.member("clientId", selection.clientId)
            writer.member("authority", selection.authority)
            writer.member("scopes", query.scopes)
            writer.member("claims", query.claimsRequest)
            writer.member("tokenType", query.tokenType == .bearer ? nil : query.tokenType)
            writer.member("resource", query.resourceList)
            writer.member("clientCapabilities", query.clientCapabilities.isEmpty ? nil : query.clientCapabilities)
            writer.member("account", query.account)
            writer.member("minimumLifetime", query.minimumLifetime)
            writer.member("instanceAware", query.instanceAware)
            writer.member("forceRefresh", forceRefresh ? true : nil)
            writer.member("narrow", query.isNarrow ? true : nil)
            writer.member("rejectedToken", rejectedToken)
            writer.member("challenge", query.challenge)
            writer.member("lifetimeOf", query.lifetimeOf == .accessToken ? nil : query.lifetimeOf)
            writer.member("extraQueryParameters", query.extraParameters.isEmpty ? nil : query.extraParameters)
            writer.member("waitForGrant", waitForGrant)
            writer.member("correlationId", correlationId)
        }
    }
}

extension JSONWriter {
    /// Writes nothing if there is no value.
    fileprivate mutating func member(_ name: StaticString, _ value: (some WireValue)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }
}
