import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Synchronization
import Testing

/// One process plays many owners: each connection that comes belongs to the next of the list, and the last one's to whom it
/// ends with.
private func owners(_ list: ConnectionOwner...) -> @Sendable (PeerCredentials) -> ConnectionOwner {
    let next = Mutex(0)
    return { _ in
        next.withLock { index in
            defer { index += 1 }
            return list[min(index, list.count - 1)]
        }
    }
}

@Suite("Nobody takes everybody's place") struct ConnectionLimitTests {
    private let greedy = ConnectionOwner(.process(pid: 1), of: Partition(uid: 1000), mayUseReserve: true)
    private let modest = ConnectionOwner(.process(pid: 2), of: Partition(uid: 1000), mayUseReserve: true)
    private let stranger = ConnectionOwner(.unidentified, of: Partition(uid: 1000), mayUseReserve: false)

    @Test("when all places are taken, whoever has few connections and may use the reserve still gets one")
    func reserve() async throws {
        let service = ScriptedService(owner: owners(greedy, greedy, stranger, modest))
        try await withListener(service, limits: { $0.connections = 2 }) { bed in
            let taken = [try await bed.connect(), try await bed.connect()]
            for client in taken { #expect(try await client.ask("mine") == "mine") }
            #expect(try await bed.connect().readToEnd() == "too many 2\n")
            #expect(try await bed.connect().ask("let me in") == "let me in")
        }
    }

    @Test("a sandbox, and all who cannot be told, have a share of their own, and leave the others theirs")
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
        "a connection that has long been quiet gives way, that of whoever has the most, and the longest quiet one first"
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

    @Test("a sandbox that counts as many has half of the places with all of its kind; the rest is for others")
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

    @Test(
        "a sandbox that counts as many makes the broker hold no more than all of its kind may; a neighbour is not cut off"
    )
    func unnamedMemory() async throws {
        let service = ScriptedService(owner: owners(modest, unnamed("a"), unnamed("b"), unnamed("c")))
        try await withListener(service, limits: { $0.heldByUnnamed = 500_000 }) { bed in
            let neighbour = try await bed.connect()
            try await neighbour.send(String(repeating: "n", count: 400_000))
            var crowd: [LineClient] = []
            for _ in 0..<3 {
                let client = try await bed.connect()
                crowd.append(client)
                // It may be cut off while it sends.
                try? await client.send(String(repeating: "g", count: 300_000))
            }
            try await eventually("two of three are cut off") { bed.listener.connectionCount == 2 }
            try await neighbour.send("\n")
            #expect(try await neighbour.readLine()?.count == 400_000)
            for client in crowd { await client.close() }
        }
    }

    @Test("whoever makes the broker hold the most is cut off; a neighbour's half line is waited for")
    func memory() async throws {
        let service = ScriptedService(owner: owners(modest, greedy))
        try await withListener(service, limits: { $0.held = 600_000 }) { bed in
            let neighbour = try await bed.connect()
            try await neighbour.send(String(repeating: "n", count: 100_000))
            var crowd: [LineClient] = []
            for _ in 0..<3 {
                let client = try await bed.connect()
                crowd.append(client)
                // It may be cut off while it sends.
                try? await client.send(String(repeating: "g", count: 300_000))
            }
            try await eventually("two of three are cut off") { bed.listener.connectionCount == 2 }
            try await neighbour.send("\n")
            #expect(try await neighbour.readLine()?.count == 100_000)
            for client in crowd { await client.close() }
        }
    }

    @Test("who waits for something, or was active a moment ago, is not sent away")
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
