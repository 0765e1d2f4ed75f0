import BrokerTestSupport
import BrokerValues
import Foundation

/// A broker with many accounts at a provider that misbehaves, and others at one that does not.
struct HeadOfLine {
    enum Effect {
        /// Requests stay under way longer than a measurement takes.
        case holds
        /// They are over at once, and others come.
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
    /// Each trouble has people of its own: nobody shall be asked for whose token was lost in the one before.
    private static let peopleEach = 500
    private static let connections = 32

    let broker: BrokerProcess
    /// A cached token of the good provider.
    let cached: Load
    /// A refresh at it.
    let refresh: Load
    private let bad: BenchProvider
    private let crowd: Crowd
    private let bed: TestBed

    static func prepare(in bed: TestBed) async throws -> HeadOfLine {
        let good = try await QuickProvider.start(people: 2, of: Crowd.clientID, in: bed)
        let bad = try await BenchProvider.start(["--any-client"], in: bed)
        let healthy = Crowd(app: "healthy", people: 0..<2, tokensEach: 1, authority: good.issuer) {
            QuickProvider.refreshToken(of: $0, after: 0)
        }
        let crowd = Crowd(
            app: "troubled", people: 0..<troubles.count * peopleEach, tokensEach: 1, authority: bad.issuer
        ) { "lost-\($0)" }
        let state = try bed.makeDirectory("state")
        for crowd in [healthy, crowd] { try await crowd.fill(state) }
        let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
        for crowd in [healthy, crowd] { try await crowd.register(at: broker) }
        return HeadOfLine(
            broker: broker, cached: Load(path: broker.socket, request: healthy.request(for: 0)),
            refresh: Load(path: broker.socket, request: healthy.request(for: 1, forceRefresh: true)), bad: bad,
            crowd: crowd, bed: bed)
    }

    /// Cached tokens, and refreshes at the good provider.
    func measure() async throws -> (cached: Distribution, refresh: Distribution) {
        let times = (cached: try cached.roundTrips(), refresh: try refresh.roundTrips(500))
        let answer = try await broker.firstAnswer(to: refresh.request)
        guard answer.contains(#""fromCache":false"#) else { throw ProcessFailure("No refresh: \(answer)") }
        return times
    }

    /// The same, while others ask the bad provider all the time.
    func measure(during number: Int) async throws -> (cached: Distribution, refresh: Distribution) {
        let trouble = Self.troubles[number]
        try await bad.breakDown(trouble.kind, trouble.more, in: bed)
        let earlier = try await bad.tokenRequests(in: bed)
        var clients: [LineClient] = []
        for _ in 0..<Self.connections { clients.append(try await broker.connectRaw()) }
        let asking = Task { [clients] in try await ask(over: clients, from: number * Self.peopleEach) }
        try await eventually("\(trouble.name): it is asked") {
            try await bad.tokenRequests(in: bed) >= earlier + 8
        }
        let before = try await bad.tokenRequests(in: bed)
        let start = ContinuousClock.now
        let times = try await measure()
        let after = try await bad.tokenRequests(in: bed)
        let wasActive =
            switch trouble.effect {
            case .holds: ContinuousClock.now - start < .seconds(20)
            case .fails: after >= before + 20
            }
        guard wasActive else { throw ProcessFailure("\(trouble.name): not all the time (\(before) to \(after)).") }
        asking.cancel()
        // Who asked goes without having read an answer.
        if case .failure(let error) = await asking.result, !(error is CancellationError) { throw error }
        for client in clients { await client.close() }
        try await bad.recover(in: bed)
        return times
    }

    /// A hundred requests a second, each for another person, and with other claims when all of them had their turn: for what was
    /// just refused the broker answers by itself.
    private func ask(over clients: [LineClient], from first: Int) async throws {
        for number in 0..<100_000 {
            let person = first + number % Self.peopleEach
            let claims = #"{"access_token":{"round-\#(number / Self.peopleEach)":null}}"#
            let line = crowd.request(for: person, claims: claims, forceRefresh: true)
            try await clients[number % clients.count].send(line)
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
