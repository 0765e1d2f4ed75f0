import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation

/// The first half with restarts, the second with one broker whose memory and descriptors are watched.
struct Soak {
    private let bed: TestBed
    private let daemon: Daemon
    private let findings: Findings
    private let spentTokens: SpentTokens
    private var providers: [TroubledProvider] = []
    private var holdings: [Holding] = []
    private var owns: [Holding] = []

    private static let callers = 6
    /// Connections to providers that are kept for the next request.
    private static let spareDescriptors = 12
    private static let repeated = "refresh tokens sent again"

    /// - Returns: the failures.
    static func run(for seconds: Double, in bed: TestBed) async throws -> [String] {
        let findings = Findings()
        let spentTokens = SpentTokens(findings)
        var soak = Soak(
            bed: bed, daemon: try await Daemon(spentTokens, in: bed), findings: findings, spentTokens: spentTokens)
        try await soak.prepare()
        try await soak.load(for: seconds / 2, restarting: true)
        try await soak.checkEverybody()
        print("with \(await soak.daemon.restarts) restarts: \(soak.findings.summary)")
        try await soak.steadily(for: seconds / 2)
        try await soak.checkEverybody()
        soak.findings.count(Self.repeated, soak.providers.map(\.provider.repeatedRefreshes).reduce(0, +))
        print("in all: \(soak.findings.summary)")
        soak.findings.require(
            5, of: ["cached tokens", "new tokens", "sign-ins", "clients that left", "watches", SpentTokens.replaced])
        // Time enough for each of them.
        if seconds >= 60 { soak.findings.require(1, of: TroubledProvider.kindsOfFaults + [Self.repeated]) }
        return soak.findings.wrong
    }

    private init(bed: TestBed, daemon: Daemon, findings: Findings, spentTokens: SpentTokens) {
        (self.bed, self.daemon, self.findings, self.spentTokens) = (bed, daemon, findings, spentTokens)
    }

    private mutating func prepare() async throws {
        let broker = await daemon.broker
        for number in 0..<2 {
            let troubled = try await TroubledProvider.start(findings, spentTokens, in: bed)
            let provider = troubled.provider
            providers.append(troubled)
            for (app, client) in [("notes", "demo-one"), ("mail", "demo-two")] {
                for person in [Person.alice, .bob] {
                    var holding = Holding(
                        app: "\(app)-\(number)", clientID: client, person: person, provider: provider)
                    if person.name == Person.alice.name { try await holding.register(with: broker) }
                    try await holding.signIn(with: broker, in: bed)
                    holdings.append(holding)
                }
            }
        }
        for number in 0..<Self.callers {
            let own = Holding(
                app: "own-\(number)", clientID: "demo-one", person: .alice, provider: providers[number % 2].provider)
            try await own.register(with: broker)
            owns.append(own)
        }
    }

    /// Runs callers, with all kinds of faults.
    private mutating func load(for seconds: Double, restarting: Bool) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        let crowd = try Crowd.start(at: await daemon.broker.socket, in: bed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for own in owns {
                var caller = Caller(
                    daemon: daemon, holdings: holdings, findings: findings, bed: bed, own: own,
                    survivesRestarts: restarting)
                group.addTask { try await caller.run { ContinuousClock.now > end } }
            }
            while ContinuousClock.now < end {
                try await trouble(restarts: restarting)
                try await Task.sleep(for: min(.seconds(2), .seconds(seconds / 20)))
            }
            try await group.waitForAll()
        }
        await crowd.stop()
        for index in providers.indices { providers[index].calm() }
        try daemon.setClock(ahead: 0)
    }

    private mutating func trouble(restarts: Bool) async throws {
        for index in providers.indices { try await providers[index].trouble() }
        try daemon.setClock(ahead: [0, 0, 0, -100, 100, 200].randomElement() ?? 0)
        if restarts, Int.random(in: 0..<3) == 0 { try await daemon.restart(byKilling: Bool.random()) }
    }

    /// One broker for the whole time.
    private mutating func steadily(for seconds: Double) async throws {
        let pid = await daemon.broker.process.pid
        let before = try Usage(of: pid)
        // Until then it fills its caches.
        try await load(for: seconds / 4, restarting: false)
        let early = try Usage(of: pid)
        try await load(for: seconds * 3 / 4, restarting: false)
        let late = try Usage(of: pid)
        print(
            String(
                format: "resident: %.1f MB at first, %.1f after a quarter, %.1f in the end",
                before.residentMegabytes, early.residentMegabytes, late.residentMegabytes))
        print(
            "descriptors: \(before.descriptors) at first, \(early.descriptors) after a quarter, \(late.descriptors) in the end"
        )
        // Idle now: memory that the load needed for a moment is released, too.
        let bound = early.residentMegabytes + max(8, early.residentMegabytes / 10)
        await require("memory does not grow", of: pid) { $0.residentMegabytes <= bound }
        await require("connections that were closed are gone", of: pid) {
            $0.descriptors <= before.descriptors + Self.spareDescriptors
        }
    }

    private func require(_ what: String, of pid: pid_t, _ holds: (Usage) -> Bool) async {
        do {
            try await eventually(what) { try holds(Usage(of: pid)) }
        } catch {
            findings.add("\(error)")
        }
    }

    /// No account has lost anything.
    private mutating func checkEverybody() async throws {
        let broker = await daemon.broker
        for holding in holdings {
            let connection = try await broker.connect()
            let answer = try await awaited("\(holding.app) gets a new token", seconds: 90) { () -> JSONObject? in
                do {
                    return try await connection.call("token.acquireSilent", holding.request(["forceRefresh": true]))
                } catch let refusal as Refusal where refusal.isPassing {
                    // The last error is repeated for a while, a minute at most.
                    return nil
                }
            }
            await connection.close()
            if let objection = holding.objection(to: answer) { findings.add(objection) }
        }
        let vault = try await broker.call("broker.status")["vault"]?.objectValue ?? [:]
        for what in ["quarantined", "missing"] where vault[what] != 0 { findings.add("records \(what): \(vault)") }
    }
}
