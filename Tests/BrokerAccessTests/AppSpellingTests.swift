import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Spelling of apps and groups")
struct AppSpellingTests {
    @Test(
        "a name or a group with the bytes of another spelling is refused, as they would be two on disk",
        arguments: [("Zo\u{eb}", "Zoe\u{308}"), ("Kontakt", "\u{212a}ontakt")])
    func spelling(name: String, other: String) async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app(name)
        app.group = name
        try await bed.directory.register(app, in: AccessBed.partition)
        try await bed.directory.register(app, in: AccessBed.partition)
        var grouped = AccessBed.app("beside")
        grouped.group = other
        for app in [AccessBed.app(other), grouped] {
            let error = await #expect(throws: BrokerError.self) {
                try await bed.directory.register(app, in: AccessBed.partition)
            }
            #expect(error?.kind == .invalidParameter && error?.message.contains("Unicode encoding") == true)
        }
        #expect(try await bed.reopened().list(in: AccessBed.partition).map(\.name) == [name])
    }
}
