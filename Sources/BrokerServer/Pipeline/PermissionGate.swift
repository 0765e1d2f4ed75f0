import BrokerAccess
import BrokerRPC
import BrokerValues

/// Holds a method's permission against the caller, before its params are read. That a caller acts as an app it may act
/// as is decided by `AccessPolicy`, once the params have named the app.
enum PermissionGate {
    static func pass(_ permission: Permission, _ caller: Caller) throws(BrokerError) {
        switch permission {
        case .person, .app: return
        case .administration: try requireUnsandboxed(caller)
        }
    }

    private static func message(to caller: Caller) -> String {
        switch caller.tier {
        case .sandboxed:
            "An app in a sandbox or container may not do this; use brokerctl outside of it (flatpak-spawn --host, distrobox-host-exec)."
        case .unidentified:
            "This is for programs that can be told to be outside of sandboxes, and nothing could be told of this one; it must go on running while it asks."
        case .confined, .systemInstalled, .unknown:
            "\(caller.id) may not do this; use brokerctl in an ordinary session of its user."
        }
    }

    /// For what the person's own tools may do and an app in a sandbox may not: see all accounts, change registrations. It
    /// needs proof of being outside.
    static func requireUnsandboxed(_ caller: Caller) throws(BrokerError) {
        guard caller.mayAdminister else {
            throw BrokerError(.accessDenied, message(to: caller), reason: .callerNotListed) { $0.caller = caller.id }
        }
    }
}
