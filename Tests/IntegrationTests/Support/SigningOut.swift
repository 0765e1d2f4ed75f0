import BrokerTestSupport
import BrokerValues
import Foundation

extension BrokerProcess {
    /// Signs the app's only account out; `visit` does the person's actions with the URL that the client must open
    /// (`interaction.open`).
    func signOut(
        app: String, _ more: JSONObject = [:],
        visit: @escaping @Sendable (_ opening: JSONObject) async throws -> Void = { _ in }
    ) async throws -> JSONObject {
        let connection = try await connect()
        let person = Task {
            do {
                while let message = await connection.nextNotification() {
                    guard message["method"] == "interaction.open" else { continue }
                    try await visit(message["params"]?.objectValue ?? [:])
                }
            } catch {
                // No browser will return: end the wait for the answer.
                await connection.close()
                throw error
            }
        }
        let accounts = try await call("accounts.list", ["app": .string(app)])[path: "accounts"].arrayValue ?? []
        let params: JSONObject = ["app": .string(app), "account": ["id": accounts.first?["id"] ?? .null]]
        let answer: Result<JSONObject, any Error>
        do {
            answer = .success(try await connection.call("accounts.signOut", params.merging(more) { $1 }))
        } catch {
            answer = .failure(error)
        }
        await connection.close()
        // An error on the person's side comes first; it may have caused the other.
        try await person.value
        return try answer.get()
    }

    /// Stops it and starts one on its state and another one on a copy of that: both have the same tokens.
    func twice(in bed: TestBed, configuration: String? = nil) async throws -> (BrokerProcess, copy: BrokerProcess) {
        await stop()
        let backup = bed.path(bed.unique("backup"))
        try FileManager.default.copyItem(atPath: stateDirectory, toPath: backup)
        func start(_ directory: String) async throws -> BrokerProcess {
            try await BrokerProcess.start(in: bed) {
                $0.stateDirectory = directory
                $0.configuration = configuration
            }
        }
        return (try await start(stateDirectory), try await start(backup))
    }
}

/// The parameters of a URL.
func query(of url: String) -> [String: String] {
    let items = URLComponents(string: url)?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
}
