import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Simultaneous changes of a person's apps")
struct SimultaneousRegistrationTests {
    @Test("simultaneous registrations of a name leave the last one on disk and in memory")
    func simultaneous() async throws {
        let bed = try await AccessBed()
        var changed = AccessBed.app()
        changed.clientID = "client-2"
        let second = changed
        let gate = Gate()
        bed.vault.hold(until: gate)
        async let first = bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        try await bed.vault.waitForHeld()
        async let last = bed.directory.register(second, in: AccessBed.partition)
        gate.open()
        _ = try await (first, last)
        let inMemory = try bed.directory.list(in: AccessBed.partition)
        #expect(inMemory == [second])
        #expect(try await bed.reopened().list(in: AccessBed.partition) == inMemory)
    }

    @Test("one of several simultaneous registrations of a new name is made, and the others are refused")
    func simultaneousNewNames() async throws {
        let bed = try await AccessBed()
        let gate = Gate()
        bed.vault.hold(until: gate)
        let begun = Recorder<Int>()
        let made = await withTaskGroup(of: String?.self) { group in
            for number in 1...8 {
                group.addTask { [directory = bed.directory] in
                    var app = AccessBed.app()
                    app.clientID = "client-\(number)"
                    begun.add(number)
                    if begun.all.count >= 8 { gate.open() }
                    return try? await directory.register(app, overPrevious: .isKept, in: AccessBed.partition).clientID
                }
            }
            return await group.reduce(into: [String]()) { made, id in made += [id].compactMap(\.self) }
        }
        #expect(made.count == 1)
        #expect(try bed.directory.list(in: AccessBed.partition).map(\.clientID) == made)
    }
}
