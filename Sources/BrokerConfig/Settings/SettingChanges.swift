extension Setting {
    /// Settings whose values differ, in the schema's order. A reload reports what takes effect now and what waits.
    package static func changed(from old: BrokerConfiguration, to new: BrokerConfiguration) -> [Setting] {
        all.filter { $0.kind.text(in: old) != $0.kind.text(in: new) }
    }

    /// `configuration` with the values of `source` for everything that a reload may change.
    package static func reloading(
        _ configuration: BrokerConfiguration, from source: BrokerConfiguration
    ) -> BrokerConfiguration {
        var result = configuration
        for setting in all where setting.takesEffect == .reload { setting.kind.copy(from: source, to: &result) }
        result.providers = source.providers
        result.apps = source.apps
        result.sandboxes = source.sandboxes
        result.remarks = source.remarks
        result.doors.oidcAgentAccounts = source.doors.oidcAgentAccounts
        return result
    }
}
