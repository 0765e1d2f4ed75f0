import BrokerTestSupport
import Foundation
import Testing

/// A separate system bus for the test, with logind simulated by python-dbusmock: no container lets a test suspend the machine.
struct LoginBus {
    let bed: TestBed
    let address: String

    /// - Parameter sessions: this user's sessions; another user has one, too.
    static func start(in bed: TestBed, sessions: [String] = ["c1"]) async throws -> LoginBus {
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
        for (id, uid) in sessions.map({ ($0, getuid()) }) + [("other", 65_534)] {
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

    /// In logind's format.
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

    /// At a seat, one session is active.
    func bringToFront(_ id: String, of ids: [String]) async throws {
        for other in ids {
            let changed = try await call([
                "call", "org.freedesktop.login1", "/org/freedesktop/login1/session/\(other)",
                "org.freedesktop.DBus.Mock", "UpdateProperties", "sa{sv}", "org.freedesktop.login1.Session", "1",
                "Active",
                "b", "\(other == id)",
            ])
            #expect(changed.succeeded, "\(changed)")
        }
    }
}
