import BrokerTestSupport
import BrokerValues
import Foundation

/// A client that makes all kinds of requests in any order until it is stopped.
struct Caller {
    let daemon: Daemon
    let holdings: [Holding]
    let findings: Findings
    let bed: TestBed
    /// Used by no other caller: it signs out and in.
    var own: Holding
    /// Whether the broker may restart meanwhile: otherwise no connection ends, and no answer is missing.
    let survivesRestarts: Bool

    mutating func run(until isOver: @Sendable () -> Bool) async throws {
        var connection: WireConnection?
        while !isOver() {
            do {
                let open: WireConnection
                if let connection { open = connection } else { open = try await daemon.broker.connect() }
                connection = open
                try await step(open)
            } catch let refusal as Refusal where refusal.isPassing {
                findings.count("refused: \(refusal.kind ?? "")")
            } catch let refusal as Refusal {
                findings.add("refused without a reason: \(refusal)")
            } catch {
                if survivesRestarts {
                    findings.count(error is ConnectionEnded ? "connections ended" : "attempts that failed")
                } else {
                    findings.add("no answer, although the broker was there: \(error)")
                }
                await connection?.close()
                connection = nil
            }
            // Leaves some of the machine to the broker.
            try await Task.sleep(for: .milliseconds(2))
        }
        await connection?.close()
    }

    private mutating func step(_ connection: WireConnection) async throws {
        guard let holding = holdings.randomElement() else { return }
        switch Int.random(in: 0..<200) {
        case 0..<140: try await acquire(holding, on: connection)
        case 140..<160: try await acquire(holding, ["forceRefresh": true], on: connection)
        case 160..<168: try await acquire(holding, ["minimumLifetime": 3000], on: connection)
        case 168..<172: try await askAgent(holding)
        case 172..<175: try await watch(holding)
        case 175..<178:
            for method in ["broker.status", "accounts.list", "apps.list", "cache.stats"] {
                _ = try await connection.call(method)
            }
        case 178..<184: try await comeAndGo(holding)
        case 184..<190: try await babble()
        case 190..<197: try await registerAndRemove(on: connection)
        default: try await signOutAndIn()
        }
    }

    private func acquire(_ holding: Holding, _ more: JSONObject = [:], on connection: WireConnection) async throws {
        let answer = try await connection.call("token.acquireSilent", holding.request(more))
        findings.count(answer["fromCache"] == true ? "cached tokens" : "new tokens")
        if let objection = holding.objection(to: answer) { findings.add(objection) }
    }

    /// Subscribes, asks, and leaves without waiting.
    private func comeAndGo(_ holding: Holding) async throws {
        let guest = try await daemon.broker.connect()
        do {
            _ = try await guest.call("broker.subscribe", ["topics": ["account", "token"]])
            let asking = Task { try await guest.call("token.acquireSilent", holding.request(["forceRefresh": true])) }
            await Task.yield()
            await guest.close()
            _ = try? await asking.value
            findings.count("clients that left")
        } catch {
            await guest.close()
            throw error
        }
    }

    /// Acts as a client of oidc-agent that knows an app but no account in it; sends its request whole or in pieces, or stops
    /// midway.
    private func askAgent(_ holding: Holding) async throws {
        let socket = await daemon.broker.socket.replacing("broker.sock", with: "oidc-agent.sock")
        let client = try await LineClient.connect(to: socket)
        let request = #"{"request":"access_token","account":"\#(holding.app)","scope":"\#(Holding.scope)"}"#
        do {
            let pieces = [[request], [String(request.prefix(20)), String(request.dropFirst(20))], ["AAAA"]]
            for piece in pieces.randomElement() ?? [] { try await client.send(piece) }
            await client.shutDownWriting()
            let answer = JSONObject(json: try await client.readToEnd().utf8)
            await client.close()
            findings.count("clients of oidc-agent")
            guard let token = answer?["access_token"] else { return }
            if let objection = holding.objection(to: ["accessToken": token]) { findings.add(objection) }
        } catch {
            await client.close()
            throw error
        }
    }

    /// Watches a token for a moment, and ends the watch or only the connection.
    private func watch(_ holding: Holding) async throws {
        let guest = try await daemon.broker.connect()
        do {
            let answer = try await guest.call("token.watch", holding.request())
            if let objection = holding.objection(to: answer) { findings.add(objection) }
            let events = Task { [findings] in
                while let event = await guest.nextNotification() {
                    guard event["method"]?.stringValue == "event.tokenChanged" else { continue }
                    findings.count("watched tokens that changed")
                    let token = event["params"]?.objectValue?["token"]?.objectValue ?? [:]
                    if let objection = holding.objection(to: token) { findings.add(objection) }
                }
            }
            // Each refresh of the token is another caller's as well.
            _ = try? await guest.call("token.acquireSilent", holding.request(["forceRefresh": true]))
            if Bool.random(), let watch = answer["watch"] {
                _ = try await guest.call("token.unwatch", ["watch": watch])
            }
            await guest.close()
            await events.value
            findings.count("watches")
        } catch {
            await guest.close()
            throw error
        }
    }

    private func babble() async throws {
        let guest = try await daemon.broker.connectRaw()
        try? await guest.sendLine(
            ["{", "[]", "{\"jsonrpc\":\"2.0\"}", String(repeating: "x", count: 5000)].randomElement() ?? "")
        _ = try? await guest.readLine()
        await guest.close()
        findings.count("clients that babbled")
    }

    private func registerAndRemove(on connection: WireConnection) async throws {
        let name = JSONValue.string("throwaway-\(UUID().uuidString.lowercased())")
        _ = try await connection.call(
            "apps.register", ["name": name, "clientId": "c", "authority": .string(own.provider.issuer)])
        _ = try await connection.call("apps.remove", ["name": name])
        findings.count("apps registered and removed")
    }

    private mutating func signOutAndIn() async throws {
        let broker = await daemon.broker
        let id = own.accountID
        // Whether it was done is unknown if the broker goes away meanwhile.
        own.accountID = ""
        if !id.isEmpty {
            _ = try await broker.call("accounts.remove", ["app": .string(own.app), "account": ["id": .string(id)]])
        }
        do {
            try await own.signIn(with: broker, in: bed)
            findings.count("sign-ins")
        } catch {
            // The provider's pages fail, too.
            findings.count("sign-ins that failed")
        }
    }
}

extension Refusal {
    /// An error that a failing provider or a stopping broker explains. A need for the person is not one.
    var isPassing: Bool {
        let passing: Set<String> = [
            "serverUnavailable", "offline", "timedOut", "throttled", "invalidResponse", "shuttingDown", "interrupted",
            "tooManyConnections",
        ]
        return [kind, reason].contains { $0.map(passing.contains) ?? false }
    }
}
