/// A reason to lock the vault.
package enum SessionEvent: String, Sendable {
    case sleeps = "the machine goes to sleep"
    case screenLocked = "the screen was locked"
}
