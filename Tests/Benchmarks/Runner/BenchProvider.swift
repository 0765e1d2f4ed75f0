import BrokerTestSupport
import BrokerValues
import Foundation

/// The real development provider, in a separate process.
struct BenchProvider {
    let issuer: String

    static func start(_ arguments: [String], wrapper: [String] = [], in bed: TestBed) async throws -> BenchProvider {
        let words = wrapper + [try PackageTree.program("broker-dev-idp")] + arguments
        let process = try bed.start(Launch(words[0], Array(words.dropFirst())))
        try await process.waitForText("issuer ")
        guard let line = process.outputText.split(separator: "\n").first(where: { $0.hasPrefix("issuer ") }) else {
            throw ProcessFailure("The provider did not say where it is.")
        }
        return BenchProvider(issuer: String(line.dropFirst("issuer ".count)))
    }

    func signIn(_ person: Person, at url: String, in bed: TestBed) async throws -> ProviderRedirect {
        let browser = FormBrowser(session: HTTPSession(in: bed), home: issuer)
        return try await browser.visit(url) { form in
            form.fields["username"] = person.name
            form.fields["password"] = person.password
        }
    }

    /// From now on it answers requests for tokens with this fault only.
    func breakDown(_ kind: String, _ more: JSONObject = [:], in bed: TestBed) async throws {
        let order: JSONObject = ["endpoint": "token", "kind": .string(kind), "times": 0]
        let reply = try await HTTPSession(in: bed).send(
            "POST", "\(issuer)/control/fault", body: .json(.object(order.merging(more) { $1 })))
        guard reply.status == 200 else { throw ProcessFailure("The provider took no fault: \(reply.text)") }
    }

    /// The number of requests for tokens so far.
    func tokenRequests(in bed: TestBed) async throws -> Int {
        let log = try await HTTPSession(in: bed).send("GET", "\(issuer)/control/log").json().arrayValue ?? []
        return log.count { $0.objectValue?["endpoint"] == "token" }
    }
}
