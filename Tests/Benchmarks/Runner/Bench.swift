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
        let signedIn = try await SignedInBroker.start(in: bed)
        try memory(signedIn.broker)
        try await cachedToken(signedIn)
        try wholePrograms(signedIn)
        try await hangingProvider(signedIn)
        await signedIn.broker.stop()
        try await manyRecords()
        try await starting()
        return report
    }

    /// Design decision 2: a cached token over a connection that stays, beside a C server that answers the same bytes.
    private mutating func cachedToken(_ signedIn: SignedInBroker) async throws {
        let request = signedIn.silentRequest()
        let client = try await signedIn.broker.connectRaw()
        try await client.send(request)
        let answer = Array((try await client.readLine() ?? "").utf8) + [UInt8(ascii: "\n")]
        await client.close()
        guard let result = try JSONReader.read(answer)["result"], try Token(reading: result).fromCache else {
            throw ProcessFailure("The broker did not answer from its cache: \(String(decoding: answer, as: UTF8.self))")
        }
        let (echoPath, echoServer) = try await EchoServer.start(answering: answer, in: bed)
        let echo = Load(path: echoPath, request: request)
        let broker = Load(path: signedIn.broker.socket, request: request)
        report.note("request, answer", "\(request.count), \(answer.count) bytes")

        try onOneCore([signedIn.broker.process, echoServer]) {
            try compare("one core", echo, broker, limits: true)
        }
        try compare("any core", echo, broker, limits: false)
    }

    private mutating func compare(_ place: String, _ echo: Load, _ broker: Load, limits: Bool) throws {
        let (floor, ours) = (try echo.roundTrips(), try broker.roundTrips())
        for (name, times) in [("C echo", floor), ("broker", ours)] {
            report.note(
                "cached token, \(place), \(name)",
                "p50 \(microseconds(times.median)), p99 \(microseconds(times[99]))")
        }
        let times = ours.median / floor.median
        let name = "cached token, \(place), p50 to C"
        if limits {
            report.measure(name, ratio(times), times, atMost: 2.5, "times")
        } else {
            report.note(name, ratio(times))
        }
        let (floorRate, rate) = (try echo.rate(), try broker.rate())
        let share = rate / floorRate
        let figure = String(format: "%.0f of %.0f a second: %.2f", rate, floorRate, share)
        if limits {
            report.measure("32 connections, \(place)", figure, share, atLeast: 1.0 / 3, "of C")
        } else {
            report.note("32 connections, \(place)", figure)
        }
    }

    private mutating func wholePrograms(_ signedIn: SignedInBroker) throws {
        let control = try PackageTree.program("brokerctl")
        let token = try Programs.time([
            control, "--socket", signedIn.broker.socket, "token", "--app", SignedInBroker.app, "--scope", "api",
        ])
        let nothing = try Programs.time(["/bin/true"])
        report.note("/bin/true, whole process", "p50 \(milliseconds(nothing.median))")
        report.note(
            "brokerctl token, whole process", "p50 \(milliseconds(token.median)) (oidc-token is not measured here)")
    }

    /// After two sign-ins and before any load. What is not anonymous is the program's own file and its libraries, which
    /// the kernel shares and takes back as it likes.
    private mutating func memory(_ broker: BrokerProcess) throws {
        let status = try String(contentsOfFile: "/proc/\(broker.process.pid)/status", encoding: .utf8)
        func megabytes(_ field: String) throws -> Double {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(field):") }
            guard let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
            else { throw ProcessFailure("The kernel does not tell \(field).") }
            return kilobytes / 1024
        }
        let resident = try megabytes("VmRSS")
        report.measure(
            "resident memory, idle",
            String(format: "%.1f MB, %.1f of it anonymous", resident, try megabytes("RssAnon")),
            resident, atMost: 20, "MB")
    }

    /// Another app's refreshes hang; cached tokens must not notice.
    private mutating func hangingProvider(_ signedIn: SignedInBroker) async throws {
        let load = Load(path: signedIn.broker.socket, request: signedIn.silentRequest())
        let before = try load.roundTrips()
        try await signedIn.hangProvider(in: bed)
        var waiting: [LineClient] = []
        for _ in 0..<32 {
            let client = try await signedIn.broker.connectRaw()
            try await client.send(signedIn.silentRequest(SignedInBroker.slowApp, forceRefresh: true))
            waiting.append(client)
        }
        let broker = signedIn.broker
        try await eventually("a refresh hangs") {
            try await broker.call("broker.status")["refreshesInFlight"]?.integerValue ?? 0 > 0
        }
        let during = try load.roundTrips()
        for client in waiting { await client.close() }
        let times = during[99] / before[99]
        report.measure(
            "cached token, p99 while a provider hangs", "\(ratio(times)) times \(microseconds(before[99]))", times,
            atMost: 2, "times")
    }

    /// A cached token takes the same time, however much else is there: beside ten accounts with one token each.
    private mutating func manyRecords() async throws {
        let few = try await roundTrips(Crowd(accounts: 10, tokensEach: 1))
        report.note("cached token, 10 accounts", "p50 \(microseconds(few.median)), p99 \(microseconds(few[99]))")
        for crowd in [
            Crowd(accounts: 10_000, tokensEach: 1), Crowd(accounts: 1, tokensEach: 1_000),
            Crowd(accounts: 10_000, tokensEach: 10),
        ] {
            let many = try await roundTrips(crowd)
            let times = many.median / few.median
            report.measure(
                "cached token, \(crowd)", "\(ratio(times)) times, p99 \(microseconds(many[99]))", times, atMost: 1.2,
                "times")
        }
    }

    private func roundTrips(_ crowd: Crowd) async throws -> Distribution {
        let state = try bed.makeDirectory("state")
        try await crowd.fill(state)
        let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
        try await broker.register(Crowd.app, clientID: Crowd.app, authority: Crowd.authority)
        let times = try Load(path: broker.socket, request: crowd.request()).roundTrips()
        await broker.stop()
        return times
    }

    /// From exec to the first answer, with an empty vault and with ten thousand records.
    private mutating func starting() async throws {
        let request = GetBrokerStatus.requestLine(id: 1, Empty())
        for records in [0, 10_000] {
            let state = try bed.makeDirectory("state-of-\(records)")
            if records > 0 {
                try await fill(state, records)
            }
            let path = try bed.makeDirectory("run") + "/start.sock"
            let times = try Programs.firstAnswer(
                [try PackageTree.program("brokerd"), "--socket", path, "--state-dir", state], at: path, request: request
            )
            report.measure(
                "start to first answer, \(records) records", "p50 \(milliseconds(times.median))", times.median / 1000,
                atMost: 50, "ms")
        }
    }

    /// A vault as many sign-ins would leave it, written without signing in ten thousand times.
    private func fill(_ state: String, _ records: Int) async throws {
        let vault = try await Vault.open(in: state)
        let partition = Partition(uid: getuid())
        let secret = Secret(String(repeating: "t", count: 1200))
        for person in 0..<(records / 10) {
            let owner = TokenOwner(
                group: GroupID(rawValue: "app:app-\(person % 10)"), clientID: "client-\(person % 10)",
                homeAccountID: HomeAccountID(subject: "person-\(person)", issuer: "https://login.example"),
                environment: "login.example")
            let sealed = try (0..<10).map { number in
                try vault.seal(
                    AccessTokenRecord(
                        owner: owner, realm: "", scopes: ["scope-\(number)"], tokenType: .bearer,
                        authority: "https://login.example", expiresOn: 4_000_000_000, cachedAt: 1),
                    secret: secret, in: partition
                ).sealed
            }
            try await vault.commit(VaultChange(in: partition, puts: sealed))
        }
        await vault.close()
    }
}
