/// Whether a request requires proof of the user's presence, because a caller would gain a right, if the administrator demands such
/// proof (`admin.proof`).
package enum PresenceNeed: Sendable, Equatable {
    case none
    /// Proof is always required.
    /// - caller: the caller that gains the right; `nil` if there is no particular one.
    /// - apps: the apps that the right is for.
    case always(caller: String? = nil, apps: [String] = [])
    /// Proof is required to answer a caller's request.
    case approval(request: String)
    /// Proof is required to become this sandbox, even if its name has no rights yet: the socket has those that it gets later.
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
