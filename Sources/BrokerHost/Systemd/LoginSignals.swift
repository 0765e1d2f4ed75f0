import BrokerBus
import Glibc

/// The signals of logind (org.freedesktop.login1 on the system bus), for one thread.
///
/// Only signals that logind itself sent count: the bus lets every program send signals that look like them.
final class LoginSignals {
    private static let service = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "\(service).Manager"
    private static let session = "\(service).Session"
    private static let patience = Duration.seconds(25)

    private let bus: Bus
    private let delaysSleep: Bool
    private let handle: (SessionEvent) -> Void
    /// logind's unique name on the bus; `nil` while it is away.
    private var logind: String?
    /// The descriptor of an inhibitor lock: while it is open, the machine waits before it sleeps.
    private var delay: Int32?

    private init(_ bus: Bus, delaysSleep: Bool, _ handle: @escaping (SessionEvent) -> Void) {
        self.bus = bus
        self.delaysSleep = delaysSleep
        self.handle = handle
    }

    deinit { release() }

    /// Calls `handle` for each event, until the bus is lost. The machine does not sleep before `handle` has returned.
    ///
    /// - Returns: the `errno` of the loss.
    static func watch(sleep: Bool, screen: Bool, _ handle: @escaping (SessionEvent) -> Void) -> Int32 {
        do throws(BusError) {
            let signals = LoginSignals(try Bus(.system), delaysSleep: sleep, handle)
            try signals.listen(screen: screen)
            while true { try signals.bus.wait(for: .seconds(3600)) { false } }
        } catch {
            return error.number
        }
    }

    private func listen(screen: Bool) throws(BusError) {
        let bus = "org.freedesktop.DBus"
        try self.bus.onSignal(
            "sender='\(bus)',path='/org/freedesktop/DBus',interface='\(bus)',member='NameOwnerChanged',arg0='\(Self.service)'"
        ) { [unowned self] signal in if signal.sender == bus { findLogind() } }
        if delaysSleep {
            try onSignal("PrepareForSleep", of: Self.manager, at: Self.path) { [unowned self] in prepareForSleep($0) }
        }
        if screen {
            try onSignal("Lock", of: Self.session) { [unowned self] in
                if isOwn($0) { handle(.screenLocked) }
            }
            // Lock asks the desktop to lock; LockedHint reports that it is locked, for any cause.
            try onSignal("PropertiesChanged", of: "\(bus).Properties") { [unowned self] in
                if (try? Self.saysLocked($0)) == true, isOwn($0) { handle(.screenLocked) }
            }
        }
        findLogind()
    }

    private func onSignal(
        _ name: String, of interface: String, at path: String? = nil, _ body: @escaping (BusReader) -> Void
    ) throws(BusError) {
        let place = path.map { ",path='\($0)'" } ?? ""
        try bus.onSignal("sender='\(Self.service)'\(place),interface='\(interface)',member='\(name)'") {
            [unowned self] signal in
            if let logind, signal.sender == logind { body(signal) }
        }
    }

    private func findLogind() {
        logind = (try? bus.owner(of: Self.service, within: Self.patience)) ?? nil
        if logind != nil { delaySleep() }
    }

    // MARK: Sleep

    private func prepareForSleep(_ signal: BusReader) {
        guard let begins = try? signal.flag() else { return }
        if begins {
            handle(.sleeps)
            release()
        } else {
            delaySleep()
        }
    }

    /// Takes a new inhibitor lock. Call it while the machine is awake: logind accepts none once the machine goes to sleep.
    private func delaySleep() {
        release()
        guard delaysSleep else { return }
        let method = Bus.Method("Inhibit", of: Self.manager, at: Self.path, service: Self.service)
        let words = ["sleep", "Token broker", "Dropping keys from memory", "delay"]
        let answer = try? bus.call(method, within: Self.patience) { arguments throws(BusError) in
            for word in words { try arguments.string(word) }
        }
        delay = try? answer?.descriptor()
    }

    private func release() {
        if let delay { close(delay) }
        delay = nil
    }

    // MARK: Screen

    /// Whether the session that a signal is about is the user's.
    private func isOwn(_ signal: BusReader) -> Bool {
        guard let session = signal.object else { return false }
        let owner = try? bus.property(
            "User", "(uo)", of: Self.session, at: session, service: Self.service, within: Self.patience
        ) { (answer) throws(BusError) in
            try answer.inside("r", "uo") { () throws(BusError) in
                let uid = try answer.number()
                _ = try answer.path()
                return uid
            }
        }
        return owner == getuid()
    }

    private static func saysLocked(_ signal: BusReader) throws(BusError) -> Bool {
        guard try signal.string() == session else { return false }
        let changes = try signal.list("{sv}") { () throws(BusError) in
            try signal.inside("e", "sv") { () throws(BusError) in
                guard try signal.string() == "LockedHint" else {
                    try signal.skip("v")
                    return false
                }
                return try signal.inside("v", "b") { () throws(BusError) in try signal.flag() } ?? false
            } ?? false
        }
        return changes.contains(true)
    }
}
