/// Whether a request needs the person to show that they are there, where the administrator asks for that (`admin.proof`): because
/// somebody comes by a right that they did not have.
package enum PresenceNeed: Sendable, Equatable {
    case none
    /// Always.
    /// - caller: who comes by the right; nil where that is nobody in particular.
    /// - apps: what the right is for.
    case always(caller: String? = nil, apps: [String] = [])
    /// The answer to what a caller asked for.
    case approval(request: String)
    /// Becoming a sandbox: where the name has rights already.
    case sandbox(String)
}

/// What the person confirms, for them to read: nothing else is confirmed with it.
package struct PresenceQuestion: Sendable, Equatable {
    package var method: String
    /// Who comes by a right; nil where that is nobody in particular.
    package var caller: String?
    /// What the right is for.
    package var apps: [String]

    package init(_ method: String, caller: String? = nil, apps: [String] = []) {
        (self.method, self.caller, self.apps) = (method, caller, apps)
    }
}
