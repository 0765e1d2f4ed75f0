import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Attack A15: more and more connections, until no descriptors are left.
@Suite("Floods of connections")
struct FloodTests {
    /// Opens this many connections, and with `hold` keeps all of them until its input ends.
    private static let flood = """
        import resource, socket, sys
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        held = []
        for number in range(int(sys.argv[2])):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(sys.argv[1])
            if sys.argv[3] == 'hold': held.append(connection)
            else: connection.close()
        print('done', flush=True)
        if held: sys.stdin.read()
        """

    /// Checks only that there is an answer. By default, `status` reports after five seconds that the broker does not answer.
    private static let status = ["status", "--timeout", "600"]

    private func flood(
        _ broker: BrokerProcess, _ count: Int, hold: Bool, in bed: TestBed
    ) async throws -> ManagedProcess {
        var launch = Launch(
            "/usr/bin/python3", ["-c", Self.flood, broker.socket, String(count), hold ? "hold" : "leave"])
        launch.hasInput = true
        let process = try bed.start(launch, as: "flood-\(hold)")
        try await process.waitForText("done")
        return process
    }

    private func descriptors(of broker: BrokerProcess) throws -> Int {
        try ProcessDescriptors.count(of: broker.process.pid)
    }

    private func residentBytes(_ broker: BrokerProcess) async throws -> Int64 {
        try #require(try await broker.call("broker.metrics")["residentBytes"]?.integerValue)
    }

    @Test(
        "a hundred thousand connections in turn leave no descriptor, no connection, no memory behind",
        .enabled(if: Prerequisite.root.shouldRun, "the daemon's descriptors are shown to root only"))
    func inTurn() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            // Allocations for the first ones are kept.
            _ = try await flood(broker, 2_000, hold: false, in: bed)
            try await eventually("they are gone") { try await broker.connections() == 1 }
            let (before, memory) = (try descriptors(of: broker), try await residentBytes(broker))
            _ = try await flood(broker, 100_000, hold: false, in: bed)
            try await eventually("they are gone") { try await broker.connections() == 1 }
            // A connection releases its place before its descriptor, which another thread may have to close.
            try await eventually("their descriptors are closed") { try descriptors(of: broker) <= before + 2 }
            #expect(try await residentBytes(broker) < memory + 32 << 20)
        }
    }

    /// Lines close to the length limit.
    private static let heavy: [String] = {
        let most = 1_000_000
        func many(_ text: String) -> String { String(repeating: text, count: most / text.utf8.count) }
        let status = #"{"jsonrpc":"2.0","id":1,"method":"broker.status"},"#
        return [
            many("["), many(#"{"a":"#), "[" + many("0,") + "0]", "[" + many("[],") + "[]]",
            "{" + many(#""a":0,"#) + #""a":0}"#,
            "[" + String(many(status).dropLast()) + "]", "\"" + many("\\u0041") + "\"", many("x"),
            #"{"jsonrpc":"2.0","id":1,"method":"accounts.list","params":{"app":""# + many("y") + #""}}"#,
        ]
    }()

    @Test(
        "long lines from many connections are each refused, others are served, and memory is bounded")
    func heavyLines() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            func send() async throws {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for line in Self.heavy + Self.heavy {
                        group.addTask {
                            let client = try await broker.connectRaw()
                            try await client.sendLine(line)
                            let answer = try await client.readLine() ?? ""
                            #expect(answer.contains(#""error""#), "\(answer.prefix(300))")
                            await client.close()
                        }
                    }
                    group.addTask { for _ in 0..<20 { _ = try await broker.call("broker.status") } }
                    try await group.waitForAll()
                }
            }
            try await send()
            let before = try await residentBytes(broker)
            for _ in 0..<4 { try await send() }
            #expect(try await residentBytes(broker) < before + 64 << 20)
            // All of them at once, read and refused.
            let peak = try ProcessMemory.peak.megabytes(of: broker.process.pid)
            #expect(peak < 256, "\(peak) MB")
        }
    }

    @Test(
        "three thousand connections of one program take the free places, and none of another's",
        .enabled(if: Prerequisite.root.shouldRun, "the daemon's descriptors are shown to root only"))
    func atOnce() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            _ = try await flood(broker, 500, hold: false, in: bed)
            try await eventually("they are gone") { try await broker.connections() == 1 }
            let (before, memory) = (try descriptors(of: broker), try await residentBytes(broker))
            let flooding = try await flood(broker, 3_000, hold: true, in: bed)
            for _ in 0..<20 {
                let status = try await broker.ctl(Self.status)
                #expect(status.succeeded, "\(status)")
            }
            // The configuration's usual limit, and the places that are reserved for users with few.
            #expect(try #require(try await broker.connections()) <= 256 + 16)
            #expect(try await residentBytes(broker) < memory + 32 << 20)
            flooding.closeInput()
            _ = await flooding.exitStatus()
            try await eventually("they are gone") { try await broker.connections() == 1 }
            try await eventually("their descriptors are closed") { try descriptors(of: broker) <= before + 2 }
        }
    }

    @Test(
        "a flood at the socket does not lock out brokerctl, with any limit of descriptors",
        arguments: [64, 160])
    func descriptorsRunOut(most: Int) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed) {
                $0.wrapper = ["/usr/bin/prlimit", "--nofile=\(most):\(most)"]
            }
            #expect(broker.process.errorText.contains("there are fewer connections than the configuration says"))
            let flooding = try await flood(broker, 100, hold: true, in: bed)
            let status = try await broker.ctl(Self.status)
            #expect(status.succeeded, "\(status)")
            flooding.closeInput()
            _ = await flooding.exitStatus()
            try await eventually("the others are gone") { try await broker.connections() == 1 }
            #expect(try await broker.ctl(Self.status).succeeded)
        }
    }
}

extension BrokerProcess {
    func connections() async throws -> Int64? {
        try await call("broker.metrics")["connections"]?.integerValue
    }
}
