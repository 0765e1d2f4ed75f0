import CSystemd
import Glibc

/// The service manager that started the process, if one did; without it every call does nothing.
///
/// It uses sd_notify(3): datagrams to `$NOTIFY_SOCKET`, which the program's children do not see (``BrowserLauncher``).
package struct ServiceManager: Sendable {
    /// How often systemd expects a ping (`WatchdogSec=`), or `nil` if it does not. Ping at half of it.
    package let watchdogInterval: Duration?

    package init() {
        var microseconds: UInt64 = 0
        let enabled = sd_watchdog_enabled(0, &microseconds) > 0 && microseconds > 0
        watchdogInterval = enabled ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Reports that the socket accepts (`READY=1`), which also ends a reload.
    package func ready(status: String) { notify("READY=1\nSTATUS=\(Self.line(status))") }

    /// Sets the line in `systemctl status`. It must have no personal data: every user of the machine may read it.
    package func status(_ text: String) { notify("STATUS=\(Self.line(text))") }

    /// Reports that a reload has begun, with the time that `Type=notify-reload` (systemd 253) requires; ``ready(status:)`` ends it.
    ///
    /// - Parameter monotonicMicroseconds: CLOCK_MONOTONIC at the moment of the signal.
    package func reloading(monotonicMicroseconds: UInt64 = Self.monotonicMicroseconds()) {
        notify("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)")
    }

    package func stopping() { notify("STOPPING=1\nSTATUS=Finishing what is in flight") }

    /// Pings the watchdog. Call it only after a proof that the event loop runs.
    package func watchdogPing() { notify("WATCHDOG=1") }

    private func notify(_ state: String) {
        // It is no error if there is no manager, or if it has ended.
        _ = sd_notify(0, state)
    }

    private static func line(_ text: String) -> String { LogEntry.line(text, atMost: 256) }
}

extension ServiceManager {
    /// CLOCK_MONOTONIC, the clock of `MONOTONIC_USEC=`.
    package static func monotonicMicroseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
