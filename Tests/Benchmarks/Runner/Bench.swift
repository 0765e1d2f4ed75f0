import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation

/// The measurements, in the order of the report.
struct Bench {
    private let bed: TestBed
    private var report = Report()

    init(in bed: TestBed) { self.bed = bed }

    mutating func run() async throws -> Report {
        try sizes()
        let signedIn = try await SignedInBroker.start(in: bed)
        let idle = try await memory(signedIn.broker)
        try await cachedToken(signedIn)
        try await besideOIDCAgent(signedIn)
        try await memoryAfterBurst("after that", signedIn.broker, idle: idle)
        await signedIn.broker.stop()
        try await headOfLine()
        try await storm()
        try await manyRecords()
        try await starting()
        return report
    }

    mutating func runCached() async throws -> Report {
        let signedIn = try await SignedInBroker.start(in: bed)
        try await cachedToken(signedIn)
        try await besideOIDCAgent(signedIn)
        await signedIn.broker.stop()
        return report
    }

    mutating func runHeadOfLine() async throws -> Report {
        try await headOfLine()
        return report
    }

    mutating func runStorm() async throws -> Report {
        try await storm()
        return report
    }

    /// Design decision 15: a cached token over a lasting connection, compared with a C server that sends the same bytes.
    private mutating func cachedToken(_ signedIn: SignedInBroker) async throws {
        let request = signedIn.silentRequest()
        let answer = Array((try await signedIn.broker.firstAnswer(to: request) + "\n").utf8)
        guard let result = try JSONReader.read(answer)["result"], try Token(reading: result).fromCache else {
            throw ProcessFailure("The broker did not answer from its cache: \(String(decoding: answer, as: UTF8.self))")
        }
        let (echoPath, echoServer) = try await EchoServer.start(answering: answer, in: bed)
        let echo = Load(path: echoPath, request: request)
        let broker = Load(path: signedIn.broker.socket, request: request)
        report.note("request, answer", "\(request.count), \(answer.count) bytes")

        try onOneCore([signedIn.broker.process, echoServer]) {
            try compare("one core", echo, broker, atMost: 2.5, atLeast: 0.5)
        }
        try compare("any core", echo, broker)
        let (floor, ours) = (try echo.newConnections(), try broker.newConnections())
        report.note("cached token, new connection, C echo", "p50 \(microseconds(floor.median))")
        report.note(
            "cached token, new connection, broker",
            "p50 \(microseconds(ours.median)), \(ratio(ours.median / floor.median)) times C")
    }

    private mutating func compare(
        _ place: String, _ echo: Load, _ broker: Load, atMost limit: Double? = nil, atLeast share: Double? = nil
    ) throws {
        let (floor, ours) = (try echo.roundTrips(), try broker.roundTrips())
        for (name, times) in [("C echo", floor), ("broker", ours)] {
            report.note(
                "cached token, \(place), \(name)",
                "p50 \(microseconds(times.median)), p99 \(microseconds(times[99]))")
        }
        let times = ours.median / floor.median
        let name = "cached token, \(place), p50 to C"
        if let limit {
            report.measure(name, ratio(times), times, atMost: limit, "times")
        } else {
            report.note(name, ratio(times))
        }
        let (floorRate, rate) = (try echo.rate(), try broker.rate())
        let rates = String(format: "%.0f of %.0f a second: %.2f", rate, floorRate, rate / floorRate)
        if let share {
            report.measure("32 connections, \(place)", rates, rate / floorRate, atLeast: share, "of C")
        } else {
            report.note("32 connections, \(place)", rates)
        }
    }

    /// Whole programs, with a new connection each, compared with Debian's oidc-agent at the same provider.
    private mutating func besideOIDCAgent(_ signedIn: SignedInBroker) async throws {
        let control = try PackageTree.program("brokerctl")
        let ours = try Programs.time([
            control, "--socket", signedIn.broker.socket, "token", "--app", SignedInBroker.app, "--scope", "api",
        ])
        let connections = try Load(path: signedIn.broker.socket, request: signedIn.silentRequest()).newConnections()
        report.note("/bin/true, whole process", "p50 \(milliseconds(try Programs.time(["/bin/true"]).median))")
        report.note("brokerctl token, whole process", "p50 \(milliseconds(ours.median))")
        guard let agent = try await OIDCAgent.start(at: signedIn.provider, in: bed) else {
            return report.note("oidc-agent", "is not installed")
        }
        let atBroker = OIDCAgent.atBroker(signedIn.broker)
        let (theirs, door) = (try agent.programs(), try atBroker.programs())
        report.note("oidc-token, whole process", "p50 \(milliseconds(theirs.median))")
        report.measure(
            "brokerctl token to oidc-token", ratio(ours.median / theirs.median), ours.median / theirs.median,
            atMost: 1.4, "times")
        report.note("oidc-token at the broker's socket, whole process", "p50 \(milliseconds(door.median))")
        report.measure(
            "oidc-token at the broker's socket to oidc-agent's", ratio(door.median / theirs.median),
            door.median / theirs.median, atMost: 1, "times")
        let (exchange, doorExchange) = (try agent.tokens(), try atBroker.tokens())
        report.note("oidc-agent, new connection, encrypted", "p50 \(microseconds(exchange.median))")
        report.note(
            "the same at the broker's socket",
            "p50 \(microseconds(doorExchange.median)), \(ratio(doorExchange.median / exchange.median)) times oidc-agent's"
        )
        let times = connections.median / exchange.median
        report.measure("cached token, new connection, to oidc-agent", ratio(times), times, atMost: 0.5, "times")
    }

    /// While some requests are delayed, requests for a cached token and refreshes at another provider must not slow down: they take
    /// as long as while the others use a good provider as often.
    private mutating func headOfLine() async throws {
        let scene = try await HeadOfLine.prepare(in: bed)
        let idleMemory = try await quietMemory(of: scene.broker).resident
        let idle = try scene.cached.roundTrips()
        let health = try await scene.measureInHealth()
        report.note(
            "cached token while others refresh a hundred times a second",
            "p50 \(microseconds(health.cached.median)), p99 \(microseconds(health.cached[99]))")
        for (number, trouble) in HeadOfLine.troubles.enumerated() {
            let times = try await scene.measure(during: number)
            behind(trouble.name, times.cached, health.cached)
            let more = times.refresh.median / health.refresh.median
            report.measure(
                "refresh elsewhere, p50 while \(trouble.name)",
                "\(ratio(more)) times \(microseconds(health.refresh.median)), p99 \(microseconds(times.refresh[99]))",
                more, atMost: 2, "times")
        }
        try await scene.ended()
        var stalled: [LineClient] = []
        for number in 0..<64 {
            let client = try await scene.broker.connectRaw()
            try await client.send(Array(scene.cached.request.dropLast(number % 2 == 0 ? 10 : 0)))
            stalled.append(client)
        }
        behind("64 clients stall", try scene.cached.roundTrips(), idle)
        for client in stalled { await client.close() }
        try await memoryAfterBurst("after the troubles", scene.broker, idle: idleMemory)
        await scene.broker.stop()
    }

    private mutating func behind(_ name: String, _ during: Distribution, _ otherwise: Distribution) {
        let times = during[99] / otherwise[99]
        report.measure(
            "cached token, p99 while \(name)", "\(ratio(times)) times \(microseconds(otherwise[99]))", times, atMost: 2,
            "times")
    }

    /// No cached token waits for a thousand refreshes, and they cost the broker little.
    private mutating func storm() async throws {
        let storm = try await RefreshStorm.prepare(in: bed)
        let idleMemory = try await quietMemory(of: storm.broker).resident
        let (idle, idleEcho) = (try storm.load.paced(), try storm.echo.paced())
        let outcome = try storm.run()
        let bare = try storm.bare()
        try await memoryAfterBurst("after the storm", storm.broker, idle: idleMemory)
        await storm.broker.stop()
        for (name, times, quiet) in [
            ("cached token, p99 while 1,000 accounts refresh", outcome.roundTrips, idle),
            ("– the C echo in the same storm", outcome.echo, idleEcho),
        ] {
            report.note(name, "\(microseconds(times[99])), \(ratio(times[99] / quiet[99])) times idle")
        }
        let times = outcome.roundTrips[99] / outcome.echo[99]
        report.measure("– the one to the other", "\(ratio(times)) times", times, atMost: 2, "times")
        report.note(
            "refreshes of 1,000 accounts",
            String(
                format: "%.0f a second, %.2f of the %.0f of a bare libcurl loop", outcome.rate, outcome.rate / bare,
                bare))
        report.measure(
            "refreshes by a second of brokerd's processor time", String(format: "%.0f", outcome.ratePerCore),
            outcome.ratePerCore, atLeast: 1_000, "a second")
    }

    /// A cached token takes the same time with many accounts as with ten accounts of one token each.
    private mutating func manyRecords() async throws {
        let few = try await roundTrips(Crowd(people: 0..<10, tokensEach: 1)).cached
        report.note("cached token, 10 accounts", "p50 \(microseconds(few.median)), p99 \(microseconds(few[99]))")
        for crowd in [
            Crowd(people: 0..<10_000, tokensEach: 1), Crowd(people: 0..<1, tokensEach: 1_000),
            Crowd(people: 0..<10_000, tokensEach: 10),
        ] {
            let (first, many) = try await roundTrips(crowd)
            report.note("first token, \(crowd)", milliseconds(first))
            let times = many.median / few.median
            report.measure(
                "cached token, \(crowd)", "\(ratio(times)) times, p99 \(microseconds(many[99]))", times, atMost: 1.2,
                "times")
        }
    }

    /// - Returns: microseconds of the first request, which reads all accounts of the app, and of those after it.
    private func roundTrips(_ crowd: Crowd) async throws -> (first: Double, cached: Distribution) {
        let state = try bed.makeDirectory("state")
        try await crowd.fill(state)
        let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
        try await crowd.register(at: broker)
        let start = ContinuousClock.now
        _ = try await broker.firstAnswer(to: crowd.request())
        let first = (ContinuousClock.now - start) / .microseconds(1)
        let times = try Load(path: broker.socket, request: crowd.request()).roundTrips()
        await broker.stop()
        return (first, times)
    }

    /// From exec to the first answer, with an empty vault and with a hundred thousand records.
    private mutating func starting() async throws {
        let request = GetBrokerStatus.requestLine(id: 1, Empty())
        // Nine tokens and the account itself.
        for crowd in [nil, Crowd(people: 0..<10_000, tokensEach: 9)] {
            let state = try bed.makeDirectory("state-to-start")
            try await crowd?.fill(state)
            let path = try bed.makeDirectory("run") + "/start.sock"
            let times = try Programs.firstAnswer(
                [try PackageTree.program("brokerd"), "--socket", path, "--state-dir", state], at: path, request: request
            )
            report.measure(
                "start to first answer, \(crowd?.description ?? "nothing")", "p50 \(milliseconds(times.median))",
                times.median / 1000, atMost: 30, "ms")
        }
    }

    // MARK: Size and memory

    /// The installed files.
    private mutating func sizes() throws {
        for (program, limit) in [("brokerd", 20.0), ("brokerctl", 10.0)] {
            let path = try PackageTree.program(program)
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            let megabytes = Double(size) / 1_048_576
            report.measure("\(program), size", String(format: "%.1f MB", megabytes), megabytes, atMost: limit, "MB")
        }
    }

    /// After a sign-in and before any load.
    private mutating func memory(_ broker: BrokerProcess) async throws -> Double {
        let (resident, own) = try await quietMemory(of: broker)
        report.measure(
            "resident memory, idle", String(format: "%.1f MB, %.1f of it anonymous", resident, own), resident,
            atMost: 20, "MB")
        return resident
    }

    private mutating func memoryAfterBurst(_ when: String, _ broker: BrokerProcess, idle: Double) async throws {
        let peak = try ProcessMemory.peak.megabytes(of: broker.process.pid)
        let (resident, own) = try await quietMemory(of: broker)
        report.measure(
            "resident memory, \(when)",
            String(
                format: "%.1f MB more than idle, %.1f anonymous, at most there were %.1f", resident - idle, own, peak),
            resident - idle, atMost: 10, "MB more")
    }

    /// After the broker has freed unneeded memory; the non-anonymous part is the program's own file and its libraries.
    private func quietMemory(of broker: BrokerProcess) async throws -> (resident: Double, anonymous: Double) {
        try await Task.sleep(for: .seconds(35))
        let pid = broker.process.pid
        return (try ProcessMemory.resident.megabytes(of: pid), try ProcessMemory.anonymous.megabytes(of: pid))
    }
}
