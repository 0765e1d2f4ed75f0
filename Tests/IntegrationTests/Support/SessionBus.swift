import BrokerTestSupport
import Foundation

/// A D-Bus session bus for one test.
enum SessionBus {
    /// - Returns: its address.
    static func start(in bed: TestBed) async throws -> String {
        let bus = bed.path(bed.unique("bus"))
        let file = bus + ".conf"
        // Without the machine's service files: only the test's programs run.
        try """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig><type>session</type><listen>unix:path=\(bus)</listen>
        <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
        """.write(toFile: file, atomically: true, encoding: .utf8)
        _ = try bed.start(Launch("dbus-daemon", ["--config-file=\(file)", "--nofork", "--nopidfile"]))
        try await eventually("the bus is there") { FileManager.default.fileExists(atPath: bus) }
        return "unix:path=\(bus)"
    }
}
