import BrokerRPC
import Testing

@Suite("Methods that add")
struct AddingMethodTests {
    @Test("these methods may keep more than before, and no other: who has no room is refused them")
    func methods() {
        #expect(
            MethodRegistry.methods.filter { $0.addsRecords }.map { $0.name }.sorted() == [
                "apps.register", "apps.registerAtProvider", "cache.import", "cache.importBackup", "grants.approve",
                "token.acquireByDeviceCode", "token.acquireInteractive", "token.acquireSilent", "token.watch",
            ])
    }
}
