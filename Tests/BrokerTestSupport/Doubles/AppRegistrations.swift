import BrokerModel
import BrokerValues

extension AppRegistration {
    /// With the values that a test sets, in one place.
    package init(
        name: String, clientID: String, authority: Authority, group: String? = nil, scopes: [String] = [],
        redirectURI: String? = nil, executables: [String] = [], units: [String] = [], sandboxIDs: [String] = [],
        clientSecret: Secret? = nil, isInstanceAware: Bool = false, isAdHoc: Bool = false
    ) {
        self.init(
            AppDescription(
                name: name, clientID: clientID, group: group, scopes: scopes, redirectURI: redirectURI,
                executables: executables, units: units, sandboxIDs: sandboxIDs),
            authority: authority, clientSecret: clientSecret, isInstanceAware: isInstanceAware, isAdHoc: isAdHoc)
    }
}
