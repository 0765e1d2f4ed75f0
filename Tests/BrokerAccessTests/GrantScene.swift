import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// A sandbox with a name, and the app `mail`.
struct GrantScene {
    let bed: AccessBed
    let caller: Caller
    let app: AppRegistration

    /// - Parameter accounts: ids by username.
    init(unnamed: Bool = false, memory: Int = 32 << 20, accounts: [String: String] = [:]) async throws {
        bed = try await AccessBed(grantMemory: memory, accounts: accounts)
        app = AccessBed.app()
        try await bed.directory.register(app, in: AccessBed.partition)
        caller = try bed.caller {
            $0.rootMount = .other
            $0.attestedName = unnamed ? nil : "flatpak:org.example.Game"
        }
    }

    /// The error of a request; `nil` if it is admitted.
    func refusal(
        _ reach: AppReach = .everything, of caller: Caller? = nil, app: String = "mail"
    ) -> BrokerError? {
        do throws(BrokerError) {
            _ = try bed.policy.admit(caller ?? self.caller, as: .registered(app), reaching: reach)
            return nil
        } catch { return error }
    }

    func request(_ reach: AppReach = .everything, app: String = "mail") throws -> String {
        let error = try #require(refusal(reach, app: app))
        #expect(error.kind == .grantRequired)
        return try #require(error.details.grantRequest)
    }

    func approve(_ terms: GrantStore.Terms = .init(), _ reach: AppReach = .everything) async throws -> Grant {
        try await bed.grants.approve(request: request(reach), terms, in: AccessBed.partition)
    }
}
