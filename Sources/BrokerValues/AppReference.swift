/// The app of a request.
package enum AppReference: Sendable, Hashable {
    /// By its name.
    case registered(String)
    /// A caller's own client id, used without a registration.
    case adHoc(clientID: String, authority: String)
}

/// Used if a request names no app.
package struct NoApp: Sendable {
    package init() {}
}
