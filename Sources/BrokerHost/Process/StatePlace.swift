/// Where the vault is, and what may be there.
package enum StatePlace: Sendable, Equatable {
    /// Where a flag or a file says.
    case named(String)
    /// In the person's state home. Earlier releases let systemd choose, and up to version 253 it has a person's state among the
    /// settings: a vault is moved from there.
    case own(String, earlier: String?)
    /// In a folder that systemd made for the unit, or a link that it made.
    case prepared(String)
}
