import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Dispatch
import Testing

@Suite("The registrations in memory")
struct RegistrationMemoryTests {
    @Test("who registers apps all the time makes nobody else read theirs again")
    func readBesideWrites() async throws {
        let bed = try await AccessBed()
        let other = Partition(uid: 4_711)
        try await bed.directory.register(AccessBed.app("first"), in: other)
        let readsBefore = bed.vault.readsOfAll
        @Sendable func writeAfterEachLoad(_ left: Int) {
            guard left > 0 else { return }
            bed.vault.afterNextLoad(of: .app) {
                waiting { _ = try? await bed.directory.register(AccessBed.app("app-\(left)"), in: other) }
                writeAfterEachLoad(left - 1)
            }
        }
        writeAfterEachLoad(20)
        #expect(try await onAThread { try bed.directory.list(in: AccessBed.partition) }.isEmpty)
        #expect(bed.vault.readsOfAll == readsBefore + 1)
    }

    @Test("what comes to disk while its partition is read is there, and it is not read again")
    func writtenWhileRead() async throws {
        let bed = try await AccessBed()
        for name in ["gone", "kept"] {
            try await bed.directory.register(AccessBed.app(name), in: AccessBed.partition)
        }
        let gate = Gate()
        bed.vault.hold(until: gate)
        let added = Task { try await bed.directory.register(AccessBed.app("added"), in: AccessBed.partition) }
        let removed = Task { try await bed.directory.remove(named: "gone", in: AccessBed.partition) }
        try await eventually("both wait for the disk") { bed.vault.held == 2 }
        bed.directory.forget()
        let readsBefore = bed.vault.readsOfAll
        bed.vault.afterNextLoad(of: .app) {
            gate.open()
            waiting { _ = (try? await added.value, try? await removed.value) }
        }
        let names = try await onAThread { try bed.directory.list(in: AccessBed.partition).map(\.name) }
        #expect(names == ["added", "kept"])
        #expect(try bed.directory.list(in: AccessBed.partition).map(\.name) == names)
        #expect(bed.vault.readsOfAll == readsBefore + 1)
    }
}

/// Holds up the calling thread, which is none that tasks share.
private func waiting(for work: @escaping @Sendable () async -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    Task {
        await work()
        isDone.signal()
    }
    isDone.wait()
}

private func onAThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}
