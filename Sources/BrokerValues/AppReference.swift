/// The app a request is for.
package enum AppReference: Sendable, Hashable {
    /// By its name.
    case registered(String)
    /// A caller's own client id, used without a registration.
    case adHoc(clientID: String, authority: String)
}
