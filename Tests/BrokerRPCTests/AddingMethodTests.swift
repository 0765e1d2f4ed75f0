import BrokerRPC
import Testing

@Suite("Methods that add")
struct AddingMethodTests {
    @Test("exactly these methods may add records, and a person without room left is refused")
    func methods() {
        #expect(
            MethodRegistry.methods.filter { $0.addsRecords }.map { $0.name }.sorted() == [
                "apps.register", "apps.registerAtProvider", "cache.import", "cache.importBackup", "grants.approve",
                "token.acquireByDeviceCode", "token.acquireInteractive", "token.acquireSilent", "token.watch",
            ])
    }
}
