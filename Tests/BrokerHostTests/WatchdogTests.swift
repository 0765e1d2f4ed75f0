import BrokerTestSupport
import Testing

@Suite("The watchdog")
struct WatchdogTests {
    @Test(
        "the watchdog gets no pings while request tasks cannot run, even if the event loop turns")
    func poolIsTaken() async throws {
        try await withTestBed { bed in
            let manager = try NotifySocket(path: bed.path("notify"))
            let probe = try bed.probe(
                "watchdog", bed.path("probe.sock"),
                environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000"])
            #expect(await probe.exitStatus() == .exited(0))
            #expect(manager.received() == ["WATCHDOG=1", "STATUS=taken", "STATUS=free", "WATCHDOG=1"])
        }
    }
}
