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

    /// For what the person's own tools may do and an app in a sandbox may not: see all accounts, change registrations.
    static func requireUnsandboxed(_ caller: Caller) throws(BrokerError) {
        guard caller.tier != .sandboxed else {
            throw BrokerError(
                .accessDenied, "An app in a sandbox may not do this; use brokerctl outside of it.",
                reason: .callerNotListed
            ) { $0.caller = caller.id }
        }
    }
}
