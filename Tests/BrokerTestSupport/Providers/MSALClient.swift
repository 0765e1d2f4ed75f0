import BrokerValues
import DevIdentityProvider
import Foundation

/// Microsoft's own `msal` library for Python as a client of the Entra flavor (`Fixtures/msal-client.py`), with a cache
/// file in the unified schema.
package struct MSALClient: Sendable {
    package let cacheFile: String
    /// The script's own options, such as `--claims`; they are passed with each command.
    package var options: [String] = []
    private let origin: String
    private let bed: TestBed

    package init(at provider: RunningProvider, in bed: TestBed) {
        cacheFile = bed.path(bed.unique("msal-cache") + ".json")
        origin = provider.origin
        self.bed = bed
    }

    /// Signs a person in by the authorization code flow.
    package func signIn(
        _ person: Person, client: String = "demo-one", tenant: String = "common", scopes: [String]
    ) async throws -> JSONObject {
        try await run([tenant, client, cacheFile, "code", person.name, person.password] + scopes)
    }

    /// Signs a person in by the device flow; the person approves at the provider, or declines with `--deny`.
    package func signInDevice(
        _ person: Person, client: String = "demo-one", tenant: String = "common", scopes: [String]
    ) async throws -> JSONObject {
        try await run([tenant, client, cacheFile, "device", person.name] + scopes)
    }

    /// Requests a token without the person.
    package func silent(
        client: String = "demo-one", tenant: String = "common", scopes: [String]
    ) async throws -> JSONObject {
        try await run([tenant, client, cacheFile, "silent"] + scopes)
    }

    /// The current content of the cache file.
    package func cache() throws -> JSONObject {
        let data = try Data(contentsOf: URL(filePath: cacheFile))
        return try JSONDecoder().decode(JSONObject.self, from: data)
    }

    /// msal's result without tokens; an error of msal counts as well.
    private func run(_ arguments: [String]) async throws -> JSONObject {
        let python = try await PythonEnvironment.shared.python(in: bed)
        let script = PackageTree.fixture("msal-client.py")
        let result = try await bed.run(Launch(python, [script] + options + [origin] + arguments))
        guard let answer = try? JSONDecoder().decode(JSONObject.self, from: result.outputData) else {
            throw ProcessFailure("msal-client.py gave no answer: \(result)")
        }
        return answer
    }
}
