import BrokerTestSupport
import BrokerValues
import Foundation

/// A broker with many accounts at providers that misbehave, and others at one that does not.
struct HeadOfLine {
    enum Effect {
        /// Requests take longer than a measurement.
        case holds
        /// They end at once, and others follow.
        case fails
    }

    struct Trouble {
        var name: String
        var kind: String
        var more: JSONObject = [:]
        var effect: Effect
    }

    static let troubles = [
        Trouble(name: "a provider hangs", kind: "hang", more: ["delay": 600], effect: .holds),
        Trouble(
            name: "a provider answers 429", kind: "status", more: ["status": 429, "retryAfter": 1], effect: .fails),
        Trouble(name: "a provider drops connections", kind: "drop", effect: .fails),
        Trouble(name: "a provider sends a megabyte slowly", kind: "trickle", more: ["delay": 25], effect: .holds),
    ]
    private static let people = 500
    private static let connections = 32
    /// The number of people at the good provider who are measured; the load requests none of them.
    private static let measured = 2

    let broker: BrokerProcess
    /// A cached token of the good provider.
    let cached: Load
    /// A refresh at the good provider.
    let refresh: Load
    private let healthy: Crowd
    /// Each fault has a separate provider: a request that one delays is still delayed when the next begins.
    private let troubled: [(provider: BenchProvider, crowd: Crowd)]
    private let bed: TestBed
    /// The broker's open descriptors without clients, and without connections to providers.
    private let descriptors: Int

    static func prepare(in bed: TestBed) async throws -> HeadOfLine {
        let good = try await QuickProvider.start(people: measured + people, of: Crowd.clientID, in: bed)
        let healthy = Crowd(app: "healthy", people: 0..<measured + people, tokensEach: 1, authority: good.issuer) {
            QuickProvider.refreshToken(of: $0, after: 0)
        }
        var troubled: [(provider: BenchProvider, crowd: Crowd)] = []
        for (number, trouble) in troubles.enumerated() {
            let provider = try await BenchProvider.start(["--any-client"], in: bed)
            let crowd = Crowd(app: "troubled-\(number)", people: 0..<people, tokensEach: 1, authority: provider.issuer)
            {
                "lost-\($0)"
            }
            try await provider.breakDown(trouble.kind, trouble.more, in: bed)
            troubled.append((provider, crowd))
        }
        let state = try bed.makeDirectory("state")
        for crowd in [healthy] + troubled.map(\.crowd) { try await crowd.fill(state) }
        let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
        for crowd in [healthy] + troubled.map(\.crowd) { try await crowd.register(at: broker) }
        return HeadOfLine(
            broker: broker, cached: Load(path: broker.socket, request: healthy.request(for: 0)),
            refresh: Load(path: broker.socket, request: healthy.request(for: 1, forceRefresh: true)),
            healthy: healthy, troubled: troubled, bed: bed,
            descriptors: try ProcessDescriptors.count(of: broker.process.pid))
    }

    /// Cached tokens, and refreshes at the good provider. The tokens are requested with a pause after each: without one, all of them
    /// would be answered before the others had sent a dozen requests, and the p99 would be random.
    private func measure() async throws -> (cached: Distribution, refresh: Distribution) {
        let times = (cached: try cached.paced(), refresh: try refresh.roundTrips(500))
        let answer = try await broker.firstAnswer(to: refresh.request)
        guard answer.contains(#""fromCache":false"#) else { throw ProcessFailure("No refresh: \(answer)") }
        return times
    }

    /// The same, while others refresh at the good provider.
    func measureInHealth() async throws -> (cached: Distribution, refresh: Distribution) {
        try await asking(healthy, from: Self.measured) { try await measure() }
    }

    /// The same, while others use a bad provider as often.
    func measure(during number: Int) async throws -> (cached: Distribution, refresh: Distribution) {
        let (trouble, (provider, crowd)) = (Self.troubles[number], troubled[number])
        return try await asking(crowd, from: 0) {
            try await eventually("\(trouble.name): it is asked") { try await provider.tokenRequests(in: bed) >= 8 }
            let before = try await provider.tokenRequests(in: bed)
            let start = ContinuousClock.now
            let times = try await measure()
            let time = ContinuousClock.now - start
            let came = try await provider.tokenRequests(in: bed) - before
            if trouble.effect == .holds, time > .seconds(20) {
                throw ProcessFailure("\(trouble.name): what it held may be over, the measurement took \(time).")
            }
            if trouble.effect == .fails, came < 5 {
                throw ProcessFailure("\(trouble.name): it was asked only \(came) times in \(time).")
            }
            return times
        }
    }

    /// Until the broker waits for no provider any more: refreshes continue after their callers have gone.
    func ended() async throws {
        let kept = 16
        try await eventually("the last provider is given up", seconds: 180) {
            try ProcessDescriptors.count(of: broker.process.pid) < descriptors + kept
        }
    }

    private func asking<Result: Sendable>(
        _ crowd: Crowd, from first: Int, while body: () async throws -> Result
    ) async throws -> Result {
        var clients: [LineClient] = []
        for _ in 0..<Self.connections { clients.append(try await broker.connectRaw()) }
        let asking = Task { [clients] in try await ask(crowd, from: first, over: clients) }
        let result = try await body()
        asking.cancel()
        // The callers leave without having read an answer.
        if case .failure(let error) = await asking.result, !(error is CancellationError) { throw error }
        for client in clients { await client.close() }
        return result
    }

    /// A hundred requests a second, each for another person, and with other claims after all of them had their turn: a token that was
    /// just refreshed, or refused, is answered by the broker itself.
    private func ask(_ crowd: Crowd, from first: Int, over clients: [LineClient]) async throws {
        for number in 0..<100_000 {
            let person = first + number % Self.people
            let claims = #"{"access_token":{"round-\#(number / Self.people)":null}}"#
            let line = crowd.request(for: person, claims: claims, forceRefresh: true)
            try await clients[number % clients.count].send(line)
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
