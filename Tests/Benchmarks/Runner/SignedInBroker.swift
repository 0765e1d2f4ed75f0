import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation

/// The real `brokerd`, with apps whose person signed in at the real development provider.
struct SignedInBroker {
    let broker: BrokerProcess
    let issuer: String

    static func start(in bed: TestBed) async throws -> SignedInBroker {
        let provider = try bed.start(
            Launch(PackageTree.program("broker-dev-idp"), ["--any-client", "--access-tokens", "jwt", "--scope", "api"]))
        try await provider.waitForText("issuer ")
        guard let line = provider.outputText.split(separator: "\n").first(where: { $0.hasPrefix("issuer ") }) else {
            throw ProcessFailure("The provider did not say where it is.")
        }
        let issuer = String(line.dropFirst("issuer ".count))
        let broker = try await BrokerProcess.start(in: bed)
        let signedIn = SignedInBroker(broker: broker, issuer: issuer)
        for app in [Self.app, Self.slowApp] { try await signedIn.signIn(app, in: bed) }
        return signedIn
    }

    static let app = "bench"
    /// Its refreshes hang when they are told to.
    static let slowApp = "bench-slow"

    private func signIn(_ app: String, in bed: TestBed) async throws {
        try await broker.register(app, clientID: "client-\(app)", authority: issuer)
        _ = try await broker.signIn(app: app, in: bed) { url in
            let browser = FormBrowser(session: HTTPSession(in: bed), home: issuer)
            return try await browser.visit(url) { form in
                form.fields["username"] = Person.alice.name
                form.fields["password"] = Person.alice.password
            }
        }
    }

    /// The request that is measured, as an app with one account sends it.
    func silentRequest(_ app: String = Self.app, forceRefresh: Bool = false) -> [UInt8] {
        var params = AcquireTokenSilent.Params(.registered(app), scopes: ["api"])
        params.forceRefresh = forceRefresh
        return AcquireTokenSilent.requestLine(id: 1, params)
    }

    /// From now on the provider answers no request for tokens.
    func hangProvider(in bed: TestBed) async throws {
        let order: JSONValue = ["endpoint": "token", "kind": "hang", "delay": 600, "times": 0]
        let reply = try await HTTPSession(in: bed).send(
            "POST", "\(issuer)/control/fault", body: .json(order))
        guard reply.status == 200 else { throw ProcessFailure("The provider took no fault: \(reply.text)") }
    }
}
