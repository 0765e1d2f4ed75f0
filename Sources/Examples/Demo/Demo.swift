import BrokerClient
import ExampleSupport
import Foundation

/// Runs `make demo`: one sign-in, two apps, and a complete cleanup.
@main
struct Demo {
    let environment: DemoEnvironment
    let output: DemoOutput
    let issuer: String

    private static let scopes = ["notes.read"]

    static func main() async {
        // A closed output does not prevent the cleanup.
        signal(SIGPIPE, SIG_IGN)
        let output = DemoOutput()
        let usesBrowser = CommandLine.arguments.contains("--browser")
        do {
            let environment = try DemoEnvironment()
            let outcome: Result<Void, any Error>
            do {
                let issuer = try environment.startProvider()
                let demo = Demo(environment: environment, output: output, issuer: issuer)
                outcome = .success(try await demo.run(usesBrowser: usesBrowser))
            } catch {
                // The signal's handler cleans up and ends the process.
                while environment.isInterrupted { try? await Task.sleep(for: .seconds(1)) }
                outcome = .failure(error)
                output.failed(error, log: environment.brokerLog)
            }
            environment.clear()
            exit((try? outcome.get()) == nil ? 1 : 0)
        } catch {
            output.failed(error, log: "")
            exit(1)
        }
    }

    private func run(usesBrowser: Bool) async throws {
        try await prepare()
        let notes = try application("notes")
        let signedIn = try await signIn(notes, usesBrowser: usesBrowser)
        output.step("App \"notes\" has its token", [shown(signedIn), "good for \(signedIn.minutes) minutes"])

        let calendar = try application("calendar")
        var parameters = SilentTokenParameters(scopes: ["calendar.read"])
        parameters.forceRefresh = true
        let shared = try await calendar.acquireTokenSilent(with: parameters)
        output.step(
            "App \"calendar\", same group, gets a token of its own: silently, without a browser",
            [shown(shared), "for \(shared.account.username), scopes \(shared.scopes.joined(separator: " "))"])

        try await refuseStranger()

        let person = try await WebAPI.get(
            try await WebAPI.userinfoEndpoint(of: issuer), authorization: signedIn.authorizationHeader)
        output.step(
            "The token works: /userinfo answers",
            person.sorted { $0.key < $1.key }.map { "\($0.key)  \($0.value)" })

        let time = try await timeOfCachedAnswer(notes)
        output.step(
            "A cached answer, over the socket and back", ["\(time) microseconds, the median of 200 (debug build)"])
        output.step("The accounts", try environment.brokerctl("accounts", "list").lines)

        try await signOut([notes, calendar], of: signedIn.account)
        let exitStatus = try environment.stopBroker()
        guard exitStatus == 0 else { throw Unexpected("the broker ended with status \(exitStatus)") }
        output.step("The broker stopped cleanly", ["exit status 0; nothing is left behind"])
    }

    private func prepare() async throws {
        try environment.startBroker()
        try await until("the broker answers") { try environment.brokerctl("status", "--json").contains("\"version\"") }
        let status = try environment.brokerctl("status", "--json")
        output.step(
            "The broker is running",
            ["socket      \(environment.socket)", "key source  \(Self.value("keySource", in: status))"])

        try register("notes", client: "demo-one", group: "demo")
        try register("calendar", client: "demo-one", group: "demo")
        try register("stranger", client: "demo-other", group: nil)
        output.step("Three apps are registered", try environment.brokerctl("apps", "list").lines)
    }

    private func refuseStranger() async throws {
        do {
            _ = try await application("stranger").acquireTokenSilent(with: SilentTokenParameters(scopes: Self.scopes))
            throw Unexpected("the unrelated app got a token")
        } catch let error as BrokerClientError {
            guard error.code == .interactionRequired else { throw error }
            output.step("App \"stranger\", outside the group, gets this error", ["\(error)"])
        }
    }

    private func register(_ name: String, client: String, group: String?) throws {
        let groupFlags = group.map { ["--group", $0] } ?? []
        _ = try environment.brokerctl(
            ["apps", "add", name, "--client-id", client, "--authority", issuer] + groupFlags)
    }

    private func application(_ name: String) throws -> PublicClientApplication {
        var configuration = PublicClientApplicationConfig(app: name)
        configuration.socketPath = environment.socket
        return try PublicClientApplication(configuration: configuration)
    }

    private func signIn(_ app: PublicClientApplication, usesBrowser: Bool) async throws -> TokenResult {
        var parameters = InteractiveTokenParameters(scopes: Self.scopes + ["calendar.read"])
        let output = output
        let ended = AsyncStream.makeStream(of: String.self)
        if !usesBrowser {
            parameters.webviewParameters = WebviewParameters { page in
                output.step("App \"notes\" signs in; the broker waits for the browser at", [page.url.prefix(96) + "…"])
                Task {
                    let person = ScriptedPerson(username: "alice", password: "alice-pw-1")
                    ended.continuation.yield((try? await person.signIn(at: page.url)) ?? "no page")
                }
            }
        }
        let result = try await app.acquireToken(with: parameters)
        if !usesBrowser {
            var pages = ended.stream.makeAsyncIterator()
            output.step("The browser shows at the end", [await pages.next() ?? "nothing"])
        }
        let name = result.account.name ?? result.account.username
        output.step("Signed in", ["\(name) (\(result.account.username))"])
        return result
    }

    private func timeOfCachedAnswer(_ app: PublicClientApplication) async throws -> Int {
        // The other app's narrower token replaced the one that both could use: the first call gets a new one.
        _ = try await app.acquireTokenSilent(with: SilentTokenParameters(scopes: Self.scopes))
        var times: [Duration] = []
        for _ in 0..<200 {
            let start = ContinuousClock.now
            let result = try await app.acquireTokenSilent(with: SilentTokenParameters(scopes: Self.scopes))
            guard result.isFromCache else { throw Unexpected("a token came from the provider instead of the cache") }
            times.append(ContinuousClock.now - start)
        }
        return Int(times.sorted()[100].components.attoseconds / 1_000_000_000_000)
    }

    private func signOut(_ apps: [PublicClientApplication], of account: Account) async throws {
        for app in apps { try await app.remove(account) }
        do {
            _ = try await apps[0].acquireTokenSilent(with: SilentTokenParameters(scopes: Self.scopes))
            throw Unexpected("a token was still there after signing out")
        } catch let error as BrokerClientError {
            guard error.code == .interactionRequired else { throw error }
            output.step("Signed out of both apps; now the answer is", ["\(error)"])
        }
    }

    private func shown(_ result: TokenResult) -> String {
        "\(result.accessToken.prefix(6))… (\(result.accessToken.count) characters, never shown whole)"
    }

    private static func value(_ name: String, in json: String) -> String {
        let parts = json.components(separatedBy: "\"\(name)\":")
        return parts.count > 1 ? parts[1].components(separatedBy: "\"")[1] : "?"
    }

    private func until(_ what: String, _ condition: () throws -> Bool) async throws {
        for _ in 0..<100 {
            if (try? condition()) == true { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Unexpected("waited in vain until \(what)")
    }
}

extension TokenResult {
    fileprivate var minutes: Int { Int((expiresOn.timeIntervalSinceNow / 60).rounded()) }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
