import BrokerTestSupport
import BrokerValues
import Foundation

/// A thousand people whose tokens are all refreshed at once, while another client requests a cached one.
struct RefreshStorm {
    /// Four apps, because the broker limits one to about four hundred concurrent refreshes.
    private static let apps = stride(from: 0, to: 1_000, by: 250).map { $0..<$0 + 250 }
    private static let bystander = 1_000
    /// The number of storms, each of which is short.
    private static let storms = 5

    let broker: BrokerProcess
    private let provider: QuickProvider
    private let crowds: [Crowd]
    /// The cached token.
    let load: Load
    /// The C server that sends the same bytes: its slowdown in the storm is the machine's part.
    let echo: Load

    struct Outcome {
        /// The times of the cached token.
        var roundTrips: Distribution
        /// The times of the C server.
        var echo: Distribution
        /// Refreshes a second.
        var rate: Double
        /// Refreshes per second of the broker's processor time.
        var ratePerCore: Double
    }

    static func prepare(in bed: TestBed) async throws -> RefreshStorm {
        let provider = try await QuickProvider.start(people: bystander + 1, of: Crowd.clientID, in: bed)
        let crowds = (apps + [bystander..<bystander + 1]).enumerated().map { number, people in
            Crowd(app: "crowd-\(number)", people: people, tokensEach: 1, authority: provider.issuer) {
                QuickProvider.refreshToken(of: $0, after: 0)
            }
        }
        let state = try bed.makeDirectory("state")
        for crowd in crowds { try await crowd.fill(state) }
        let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
        for crowd in crowds { try await crowd.register(at: broker) }
        let load = Load(path: broker.socket, request: crowds[apps.count].request())
        let answer = Array((try await broker.firstAnswer(to: load.request) + "\n").utf8)
        let (echoPath, _) = try await EchoServer.start(answering: answer, in: bed)
        return RefreshStorm(
            broker: broker, provider: provider, crowds: crowds.dropLast(), load: load,
            echo: Load(path: echoPath, request: load.request))
    }

    func run() throws -> Outcome {
        let lines = crowds.flatMap { crowd in
            crowd.people.map { String(decoding: crowd.request(for: $0, forceRefresh: true), as: UTF8.self) }
        }
        var (times, echoTimes, seconds) = ([UInt64](), [UInt64](), 0.0)
        let before = try broker.processorTime()
        for _ in 0..<Self.storms {
            let storm = try load.inStorm(of: lines, beside: echo)
            times += storm.times
            echoTimes += storm.beside
            seconds += storm.seconds
        }
        let refreshes = Double(Self.storms * lines.count)
        return Outcome(
            roundTrips: Distribution(nanoseconds: times), echo: Distribution(nanoseconds: echoTimes),
            rate: refreshes / seconds,
            ratePerCore: refreshes / (try broker.processorTime() - before))
    }

    /// The same requests, as the broker would send them, in a loop around libcurl.
    ///
    /// - Returns: refreshes a second.
    func bare() throws -> Double {
        let forms = (Self.storms..<2 * Self.storms).flatMap { storm in
            crowds.flatMap(\.people).map { person in
                let token = QuickProvider.refreshToken(of: person, after: storm)
                return "grant_type=refresh_token&refresh_token=\(token)&client_id=\(Crowd.clientID)&scope=openid"
            }
        }
        return Double(forms.count) / (try Load.post(forms, to: provider.tokenEndpoint))
    }
}

extension BrokerProcess {
    /// Over a separate connection.
    func firstAnswer(to request: [UInt8]) async throws -> String {
        let client = try await connectRaw()
        try await client.send(request)
        let answer = try await client.readLine()
        await client.close()
        return answer ?? ""
    }

    /// In seconds, of all of its threads.
    func processorTime() throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(process.pid)/stat", encoding: .utf8)
        // After the program's name: the third field of the file comes first.
        let fields = stat.split(separator: ")").last?.split(separator: " ").compactMap { Double($0) } ?? []
        guard fields.count > 11 else { throw ProcessFailure("The kernel does not tell the processor time.") }
        return (fields[10] + fields[11]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
