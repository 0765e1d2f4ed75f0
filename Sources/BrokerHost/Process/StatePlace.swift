/// The folder of the vault, and its origin.
package enum StatePlace: Sendable, Equatable {
    /// A folder that a flag or a configuration file names.
    case named(String)
    /// A folder in the person's state home. A vault is moved there from `earlier`, the folder that systemd chose for earlier
    /// releases: up to version 253 it puts a person's state among the settings.
    case own(String, earlier: String?)
    /// A folder or link that systemd made for the unit.
    case prepared(String)
}
