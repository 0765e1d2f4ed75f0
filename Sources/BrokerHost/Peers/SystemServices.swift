import BrokerBus
import BrokerSystem
import Dispatch
import Synchronization

/// Asks the system's manager which account a service runs as. A user's process in a service's cgroup need not be the service:
/// cron and at leave users' jobs in their own.
final class SystemServices: Sendable {
    private struct Answer {
        var account: UInt32?
        var until: Int64
    }

    private struct State {
        /// The answers, cached for ``SystemServices/memory``: the account of a service can change when it is restarted.
        var answers: [String: Answer] = [:]
        /// Only one request at a time goes to a bus that does not answer.
        var isAsking = false
    }

    private let state = Mutex(State())
    /// The seconds for which an answer is cached.
    private static let memory: Int64 = 30
    /// The number of cached answers.
    private static let limit = 64
    /// How long a caller waits for the bus, which is on this machine.
    private static let patience = DispatchTimeInterval.milliseconds(250)

    /// The account that a service runs as. It waits for the bus no longer than ``patience``.
    ///
    /// - Parameter service: `NAME.service` of the system's manager.
    /// - Returns: the account; `nil` if it is root, or if systemd does not say.
    func account(of service: String) -> UInt32? {
        let now = SystemClock().uptime.components.seconds
        let known: Answer? = state.withLock { state in
            if let answer = state.answers[service], now < answer.until { return answer }
            // Until the bus has answered the first request, others get no account unless it is cached.
            guard !state.isAsking else { return Answer(account: nil, until: now) }
            state.isAsking = true
            return nil
        }
        if let known { return known.account }
        let answered = DispatchSemaphore(value: 0)
        let started = DetachedThread.start { [self] in
            let answer = Self.ask(service)
            state.withLock { state in
                state.isAsking = false
                if let answer { Self.remember(answer, of: service, at: now, in: &state.answers) }
            }
            answered.signal()
        }
        guard started == 0 else {
            state.withLock { $0.isAsking = false }
            return nil
        }
        guard answered.wait(timeout: .now() + Self.patience) == .success else { return nil }
        return state.withLock { $0.answers[service]?.account }
    }

    private static func remember(
        _ account: UInt32, of service: String, at now: Int64, in answers: inout [String: Answer]
    ) {
        if answers.count >= limit { answers = answers.filter { now < $0.value.until } }
        if answers.count >= limit { answers = [:] }
        answers[service] = Answer(account: account == .max ? nil : account, until: now + memory)
    }

    /// The property `UID` of org.freedesktop.systemd1.Service: the uid from `User=`, `UInt32.max` for none; `nil` if systemd did
    /// not answer.
    private static func ask(_ service: String) -> UInt32? {
        guard let path = Bus.path("/org/freedesktop/systemd1/unit", service) else { return nil }
        let systemd = "org.freedesktop.systemd1"
        do throws(BusError) {
            return try Bus(.system).property(
                "UID", "u", of: "\(systemd).Service", at: path, service: systemd, within: .seconds(25)
            ) { (answer) throws(BusError) in try answer.number() }
        } catch {
            return nil
        }
    }
}
