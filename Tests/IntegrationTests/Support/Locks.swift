import BrokerTestSupport
import BrokerValues
import Testing

extension BrokerProcess {
    func isLocked() async throws -> Bool? { try await call("broker.status")["locked"]?.boolValue }

    /// Waits until it has unlocked the vault, which contains the app `notes`, without a person.
    func opensByItself() async throws {
        try await eventually("the broker opens by itself") { try await isLocked() == false }
        #expect(try await ctl(["apps", "list"]).output.contains("notes"))
    }
}
