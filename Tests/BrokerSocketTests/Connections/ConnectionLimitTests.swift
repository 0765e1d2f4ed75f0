import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Synchronization
import Testing

/// One process plays many owners: each new connection belongs to the next of the list, and all further ones to the last.
private func owners(_ list: ConnectionOwner...) -> @Sendable (PeerCredentials) -> ConnectionOwner {
    let next = Mutex(0)
    return { _ in
        next.withLock { index in
            defer { index += 1 }
            return list[min(index, list.count - 1)]
        }
    }
}

@Suite("Fair limits of connections") struct ConnectionLimitTests {
    private let greedy = ConnectionOwner(.process(pid: 1), of: Partition(uid: 1000), mayUseReserve: true)
    private let modest = ConnectionOwner(.process(pid: 2), of: Partition(uid: 1000), mayUseReserve: true)
    private let stranger = ConnectionOwner(.unidentified, of: Partition(uid: 1000), mayUseReserve: false)

    @Test("without free slots, an owner with few connections who may use the reserve still gets one")
    func reserve() async throws {
        let service = ScriptedService(owner: owners(greedy, greedy, stranger, modest))
        try await withListener(service, limits: { $0.connections = 2 }) { bed in
            let taken = [try await bed.connect(), try await bed.connect()]
            for client in taken { #expect(try await client.ask("mine") == "mine") }
            #expect(try await bed.connect().readToEnd() == "too many 2\n")
            #expect(try await bed.connect().ask("let me in") == "let me in")
        }
    }

    @Test("a sandbox, and all unidentified callers together, have a share, and leave the others theirs")
    func share() async throws {
        for limited in [stranger, ConnectionOwner(.sandbox("game"), of: Partition(uid: 1000), mayUseReserve: false)] {
            let service = ScriptedService(owner: owners(limited, limited, limited, modest))
            try await withListener(service, limits: { $0.sandboxConnections = 2 }) { bed in
                let taken = [try await bed.connect(), try await bed.connect()]
                for client in taken { #expect(try await client.ask("mine") == "mine") }
                #expect(try await bed.connect().readToEnd() == "too many of yours 2\n")
                #expect(try await bed.connect().ask("another") == "another")
            }
        }
    }

    @Test(
        "without free slots, the longest quiet connection of the owner with the most is evicted"
    )
    func quietGivesWay() async throws {
        let service = ScriptedService(owner: owners(modest, greedy, greedy, stranger))
        service.isIdle = true
        try await withListener(
            service,
            limits: {
                $0.connections = 3
                $0.quiet = .zero
            }
        ) { bed in
            let single = try await bed.connect()
            #expect(try await single.ask("first") == "first")
            let oldest = try await bed.connect()
            #expect(try await oldest.ask("second") == "second")
            let newer = try await bed.connect()
            #expect(try await newer.ask("third") == "third")
            #expect(try await bed.connect().ask("fourth") == "fourth")
            #expect(try await oldest.readToEnd() == "")
            #expect(try await newer.ask("still here") == "still here")
            #expect(try await single.ask("still here") == "still here")
        }
    }

    private func unnamed(_ unit: String) -> ConnectionOwner {
        ConnectionOwner(.unnamedSandbox(unit: unit), of: Partition(uid: 1000), mayUseReserve: false)
    }

    @Test("unnamed sandboxes have half of a user's slots together, and the rest is for others")
    func unnamedShare() async throws {
        let service = ScriptedService(
            owner: owners(unnamed("a"), unnamed("b"), stranger, unnamed("c"), unnamed("d"), modest, greedy))
        try await withListener(service, limits: { $0.connections = 6 }) { bed in
            var taken: [LineClient] = []
            for _ in 0..<3 {
                taken.append(try await bed.connect())
                #expect(try await taken.last?.ask("mine") == "mine")
            }
            for _ in 0..<2 { #expect(try await bed.connect().readToEnd() == "too many of yours 3\n") }
            for _ in 0..<2 {
                taken.append(try await bed.connect())
                #expect(try await taken.last?.ask("served") == "served")
            }
        }
    }

    /// Three clients fill memory beside a neighbour with half a line: two of them are cut off, and it is not.
    private func expectCutOff(
        _ service: ScriptedService, beside half: Int, limits: (inout ConnectionLimits) -> Void
    ) async throws {
        try await withListener(service, limits: limits) { bed in
            let neighbour = try await bed.connect()
            try await neighbour.send(String(repeating: "n", count: half))
            var crowd: [LineClient] = []
            for _ in 0..<3 {
                let client = try await bed.connect()
                crowd.append(client)
                // It may be cut off while it sends.
                try? await client.send(String(repeating: "g", count: 300_000))
            }
            try await eventually("two of three are cut off") { bed.listener.connectionCount == 2 }
            try await neighbour.send("\n")
            #expect(try await neighbour.readLine()?.count == half)
            for client in crowd { await client.close() }
        }
    }

    @Test(
        "an unnamed sandbox fills no more memory than all of its kind may, and a neighbour stays connected"
    )
    func unnamedMemory() async throws {
        let service = ScriptedService(owner: owners(modest, unnamed("a"), unnamed("b"), unnamed("c")))
        try await expectCutOff(service, beside: 400_000) { $0.heldByUnnamed = 500_000 }
    }

    @Test("the client that fills the most memory is cut off, and a neighbour's half line is awaited")
    func memory() async throws {
        let service = ScriptedService(owner: owners(modest, greedy))
        try await expectCutOff(service, beside: 100_000) { $0.held = 600_000 }
    }

    @Test("a connection that waits for an answer, or was active a moment ago, is not evicted")
    func busyStays() async throws {
        for isBusy in [true, false] {
            let service = ScriptedService(owner: owners(modest, greedy, stranger))
            service.isIdle = !isBusy
            try await withListener(
                service,
                limits: {
                    $0.connections = 2
                    $0.quiet = isBusy ? .zero : .seconds(3600)
                }
            ) { bed in
                let taken = [try await bed.connect(), try await bed.connect()]
                for client in taken { #expect(try await client.ask("mine") == "mine") }
                #expect(try await bed.connect().readToEnd() == "too many 2\n")
                for client in taken { #expect(try await client.ask("still") == "still") }
            }
        }
    }
}
