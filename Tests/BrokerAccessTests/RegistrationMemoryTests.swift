import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Dispatch
import Testing

@Suite("The registrations in memory")
struct RegistrationMemoryTests {
    @Test("a user who keeps registering apps does not make others' registrations be read again")
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
        // The bed holds the pending reads, which hold the bed.
        bed.vault.afterNextLoad(of: .app) {}
    }

    @Test("a change written while its partition is read is found without another read", arguments: [false, true])
    func writtenWhileRead(isRemoval: Bool) async throws {
        let bed = try await AccessBed()
        for name in ["gone", "kept"] {
            try await bed.directory.register(AccessBed.app(name), in: AccessBed.partition)
        }
        let gate = Gate()
        bed.vault.hold(until: gate)
        let changed = Task {
            if isRemoval {
                _ = try await bed.directory.remove(named: "gone", in: AccessBed.partition)
            } else {
                try await bed.directory.register(AccessBed.app("added"), in: AccessBed.partition)
            }
        }
        try await bed.vault.waitForHeld()
        bed.directory.forget()
        let readsBefore = bed.vault.readsOfAll
        bed.vault.afterNextLoad(of: .app) {
            gate.open()
            waiting { try? await changed.value }
        }
        let names = try await onAThread { try bed.directory.list(in: AccessBed.partition).map(\.name) }
        #expect(names == (isRemoval ? ["kept"] : ["added", "gone", "kept"]))
        #expect(try bed.directory.list(in: AccessBed.partition).map(\.name) == names)
        #expect(bed.vault.readsOfAll == readsBefore + 1)
    }

    @Test("a question that waits for the person keeps no client secret in memory")
    func openQuestion() async throws {
        let scene = try await GrantScene()
        var app = scene.app
        app.clientSecret = Secret("of the client")
        try await scene.bed.directory.register(app, in: AccessBed.partition)
        #expect(try scene.bed.directory.registered("mail", in: AccessBed.partition).clientSecret != nil)
        let request = try scene.request()
        #expect(try scene.bed.grants.app(of: request, in: AccessBed.partition).clientSecret == nil)
    }

    @Test("registrations in memory are bounded, and evicted ones are read again unchanged")
    func bound() async throws {
        let bed = try await AccessBed()
        let users = (0..<10).map { Partition(uid: 3_000 + $0) }
        for user in users { try await bed.directory.register(AccessBed.app("app-\(user.uid)"), in: user) }
        let directory = AppDirectory(vault: bed.vault, memory: 20 << 10, log: .silent)
        func isThere(_ user: Partition) throws -> Bool {
            try directory.list(in: user).map(\.name) == ["app-\(user.uid)"]
        }
        let readsBefore = bed.vault.readsOfAll
        for user in users { #expect(try isThere(user) && isThere(user)) }
        #expect(bed.vault.readsOfAll == readsBefore + 10)
        #expect(try isThere(users[9]))
        #expect(bed.vault.readsOfAll == readsBefore + 10)
        #expect(try isThere(users[0]))
        #expect(bed.vault.readsOfAll == readsBefore + 11)
        // A registration larger than the bound is read for each request, and works all the same.
        let small = AppDirectory(vault: bed.vault, memory: 1, log: .silent)
        try await small.register(AccessBed.app("second"), in: users[0])
        #expect(try small.list(in: users[0]).map(\.name) == ["app-3000", "second"])
    }

    @Test("the lists of an app are bounded")
    func longLists() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.scopes = (0..<256).map { "scope-\($0)" }
        try await bed.directory.register(app, in: AccessBed.partition)
        app.scopes.append("one-more")
        let many = app
        await #expect(throws: BrokerError.self) { try await bed.directory.register(many, in: AccessBed.partition) }
        app.scopes = [String(repeating: "s", count: 17 << 10)]
        let long = app
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(long, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter)
    }

    @Test("the client secrets of a thousand apps take few memory mappings of the process")
    func mappingsOfSecrets() async throws {
        let bed = try await AccessBed()
        var change = VaultChange(in: AccessBed.partition)
        for number in 0..<1_000 {
            var app = AccessBed.app("app-\(number)")
            app.clientSecret = Secret("hush")
            change.puts.append(
                try bed.vault.seal(AppRecord(app), secret: app.clientSecret, in: AccessBed.partition).sealed)
        }
        try await bed.vault.commit(change)
        let before = try mappings()
        #expect(try bed.directory.list(in: AccessBed.partition).count == 1_000)
        #expect(try mappings() - before < 1_000)
    }

    @Test("a client secret is no longer than the longest secret")
    func longSecret() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.clientSecret = Secret(String(repeating: "s", count: 1_024))
        try await bed.directory.register(app, in: AccessBed.partition)
        app.clientSecret = Secret(String(repeating: "s", count: 1_025))
        let long = app
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(long, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter && error?.message.contains("clientSecret") == true)
    }
}

/// Blocks the calling thread, which is not one shared by tasks.
func waiting(for work: @escaping @Sendable () async -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    Task {
        await work()
        isDone.signal()
    }
    isDone.wait()
}

func onAThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}
