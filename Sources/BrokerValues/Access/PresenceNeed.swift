/// Whether a request requires proof of the user's presence, if the administrator demands it (`admin.proof`): because a caller
/// would gain a right.
package enum PresenceNeed: Sendable, Equatable {
    case none
    /// Always.
    /// - caller: the caller that gains the right; nil if there is no particular one.
    /// - apps: the apps that the right is for.
    case always(caller: String? = nil, apps: [String] = [])
    /// The answer to a caller's request.
    case approval(request: String)
    /// Becoming a sandbox: if the name already has rights.
    case sandbox(String)
}

/// The action that the user confirms: nothing else is confirmed with it.
package struct PresenceQuestion: Sendable, Equatable {
    package var method: String
    /// The caller that gains a right; `nil` if there is no particular one.
    package var caller: String?
    /// The apps that the right is for.
    package var apps: [String]

    package init(_ method: String, caller: String? = nil, apps: [String] = []) {
        (self.method, self.caller, self.apps) = (method, caller, apps)
    }
}
