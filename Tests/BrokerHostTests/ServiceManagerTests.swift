import BrokerTestSupport
import Testing

@Suite("Reports to the service manager")
struct ServiceManagerTests {
    @Test("readiness, reload, watchdog and stop arrive in order, and a status cannot inject a line")
    func notifications() async throws {
        try await withTestBed { bed in
            let manager = try NotifySocket(path: bed.path("notify"))
            let probe = try bed.probe(
                "notify", environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000"])
            #expect(await probe.exitStatus() == .exited(0))
            #expect(probe.outputText.contains("watchdog 2.0 seconds"))
            #expect(
                manager.received() == [
                    "READY=1\nSTATUS=Serving 3 connections\\u{a}WATCHDOG=trigger",
                    "RELOADING=1\nMONOTONIC_USEC=42",
                    "READY=1\nSTATUS=Serving",
                    "WATCHDOG=1",
                    "STOPPING=1\nSTATUS=Finishing what is in flight",
                ])
        }
    }

    @Test("a watchdog meant for another process is ignored")
    func foreignWatchdog() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("notify", environment: ["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"])
            #expect(await probe.exitStatus() == .exited(0))
            #expect(probe.outputText.contains("watchdog none"))
        }
    }

    @Test("without a service manager nothing happens")
    func nobodyToTell() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("notify")
            #expect(await probe.exitStatus() == .exited(0))
            #expect(probe.outputText == "watchdog none\ndone\n")
        }
    }
}
