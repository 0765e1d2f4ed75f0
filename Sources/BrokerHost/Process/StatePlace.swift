/// The vault's place, and what may be there.
package enum StatePlace: Sendable, Equatable {
    /// As named by a flag or a file.
    case named(String)
    /// In the person's state home. Earlier releases let systemd choose, which up to version 253 puts a person's state among the
    /// settings: a vault is moved from there.
    case own(String, earlier: String?)
    /// In a folder or link that systemd made for the unit.
    case prepared(String)
}
