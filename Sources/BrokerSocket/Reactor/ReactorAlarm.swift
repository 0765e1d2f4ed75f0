import CBrokerLinux
import Glibc

/// Wakes a reactor when a timer may be due (timerfd_create(2)).
struct ReactorAlarm: ~Copyable {
    /// Readable when the time has come; minus an errno value if the system had none to spare.
    let descriptor = broker_events_open_alarm()
    /// The time that it is set to.
    private var moment: MonotonicInstant?

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// It may ring earlier, for a timer canceled since.
    mutating func ring(by due: MonotonicInstant?) {
        guard let due, moment.map({ due < $0 }) ?? true else { return }
        moment = due
        _ = broker_events_set_alarm(descriptor, due.nanoseconds)
    }

    /// It rang, and is set again by the next ``ring(by:)``.
    mutating func stop() {
        moment = nil
        _ = broker_events_sleep_again(descriptor)
    }
}
