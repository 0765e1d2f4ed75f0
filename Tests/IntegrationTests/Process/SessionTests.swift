import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A system bus of the test's own, with logind as python-dbusmock plays it: no container lets a test suspend the machine.
private struct LoginBus {
    let bed: TestBed
    let address: String

    static func start(in bed: TestBed) async throws -> LoginBus {
        let bus = bed.path("system-bus")
        let file = bed.path("system-bus.conf")
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>system</type><listen>unix:path=\(bus)</listen>
        <policy context="default"><allow send_destination="*"/><allow send_type="signal"/><allow receive_sender="*"/><allow own="*"/></policy>
        </busconfig>
        """.write(toFile: file, atomically: true, encoding: .utf8)
        _ = try bed.start(Launch("dbus-daemon", ["--config-file=\(file)", "--nofork", "--nopidfile"]))
        try await eventually("the bus is there") { FileManager.default.fileExists(atPath: bus) }
        let login = LoginBus(bed: bed, address: "unix:path=\(bus)")
        let mock = try bed.start(
            Launch(
                "/usr/bin/python3", ["-m", "dbusmock", "--system", "--template", "logind"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": login.address]), as: "logind")
        try await eventually("logind is there") {
            try mock.requireRunning()
            return try await login.call(["introspect", "org.freedesktop.login1", "/org/freedesktop/login1"]).succeeded
        }
        for (id, uid) in [("c1", getuid()), ("c2", 65_534)] {
            let made = try await login.call(
                [
                    "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.DBus.Mock",
                    "AddSession",
                    "ssusb", id, "seat0", "\(uid)", "user-\(uid)", "true",
                ])
            #expect(made.succeeded, "\(made)")
        }
        return login
    }

    func call(_ arguments: [String]) async throws -> CommandResult {
        try await bed.run(Launch("busctl", ["--address=\(address)"] + arguments))
    }

    /// As logind sends it.
    func says(_ member: String, of interface: String, at path: String, _ signature: String, _ values: [String] = [])
        async throws
    {
        let told = try await call(
            [
                "call", "org.freedesktop.login1", path, "org.freedesktop.DBus.Mock", "EmitSignal", "sssav", interface,
                member, signature, "\(values.count / 2)",
            ] + values)
        #expect(told.succeeded, "\(told)")
    }

    func sleeps(_ begins: Bool = true) async throws {
        try await says(
            "PrepareForSleep", of: "org.freedesktop.login1.Manager", at: "/org/freedesktop/login1", "b",
            ["b", "\(begins)"])
    }

    func session(_ id: String, _ member: String) async throws {
        try await says(
            member, of: "org.freedesktop.login1.Session", at: "/org/freedesktop/login1/session/\(id)", "")
    }

    /// A broker that has been seen to hear logind, unlocked again.
    func startBroker(_ settings: String, hearing word: () async throws -> Void) async throws -> BrokerProcess {
        let broker = try await BrokerProcess.start(in: bed) { options in
            options.configuration = "[lock]\n\(settings)\n"
            options.wrapper = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=\(address)"]
        }
        try await eventually("the broker hears logind") {
            try await word()
            return try await isLocked(broker)
        }
        #expect(try await broker.ctl(["unlock"]).succeeded)
        return broker
    }
}

private func isLocked(_ broker: BrokerProcess) async throws -> Bool {
    try await broker.call("broker.status")["locked"]?.boolValue == true
}

@Suite("Locking with the session and before sleep", .serialized, .timeLimit(.minutes(2))) struct SessionTests {
    @Test("when the machine is about to sleep it locks, each time; waking up does not unlock it")
    func sleep() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_suspend = true") { try await login.sleeps() }
            try await login.sleeps(false)
            #expect(try await !isLocked(broker))
            try await login.sleeps()
            try await eventually("it is locked") { try await isLocked(broker) }
            try await login.sleeps(false)
            #expect(try await isLocked(broker))
        }
    }

    @Test("it locks with a session of its user, not with another user's, and no signal unlocks it")
    func screen() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_screen_lock = true") {
                try await login.session("c1", "Lock")
            }
            try await login.session("c2", "Lock")
            try await login.session("c1", "Unlock")
            #expect(try await !isLocked(broker))
            try await login.session("c1", "Lock")
            try await eventually("it is locked") { try await isLocked(broker) }
            try await login.session("c1", "Unlock")
            #expect(try await isLocked(broker))
        }
    }

    @Test("a signal that another program sends in logind's name changes nothing")
    func forged() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_screen_lock = true\non_suspend = true") {
                try await login.session("c1", "Lock")
            }
            for signal in [
                ["/org/freedesktop/login1/session/c1", "org.freedesktop.login1.Session", "Lock"],
                ["/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "true"],
            ] {
                let sent = try await login.call(["emit"] + signal)
                #expect(sent.succeeded, "\(sent)")
            }
            // logind's own word comes after them on the same connection: when it was heard, they had been.
            try await login.session("c2", "Lock")
            #expect(try await !isLocked(broker))
            try await login.session("c1", "Lock")
            try await eventually("it is locked") { try await isLocked(broker) }
        }
    }
}
