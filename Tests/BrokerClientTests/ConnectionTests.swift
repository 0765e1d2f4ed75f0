import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("One connection, many requests")
struct ConnectionTests {
    @Test("an answer that arrives in pieces is assembled")
    func pieces() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            let answer = #"{"jsonrpc":"2.0","id":\#(request.id),"result":\#(ScriptedAnswers.token("AT-ü"))}"# + "\n"
            let bytes = Array(answer.utf8)
            for start in stride(from: 0, to: bytes.count, by: 7) {
                peer.send(bytes: bytes[start..<min(start + 7, bytes.count)])
                peer.waitUntilRead()
            }
            peer.waitForEnd()
        }
        let token = try await connection(to: broker).call(AcquireTokenSilent.self, silent)
        #expect(token.accessToken == "AT-ü")
    }

    @Test("answers that arrive together, in another order, between empty lines, reach their callers")
    func interleaved() async throws {
        let broker = try ScriptedBroker { peer in
            let requests = (0..<8).compactMap { _ in peer.request() }
            let lines = requests.reversed().map { request in
                let token = ScriptedAnswers.token("AT-\(request.firstScope)")
                return #"{"jsonrpc":"2.0","id":\#(request.id),"result":\#(token)}"#
            }
            peer.send("\n" + lines.joined(separator: "\n\n") + "\n")
            peer.waitForEnd()
        }
        let connection = connection(to: broker)
        try await withThrowingTaskGroup(of: (String, String).self) { group in
            for number in 0..<8 {
                group.addTask {
                    let params = AcquireTokenSilent.Params(.registered("mail"), scopes: ["scope-\(number)"])
                    return (
                        "AT-scope-\(number)", try await connection.call(AcquireTokenSilent.self, params).accessToken
                    )
                }
            }
            for try await (expected, got) in group { #expect(got == expected) }
        }
    }

    @Test("an answer without a request, and a notification without a receiver, are ignored")
    func unexpected() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                peer.send(#"{"jsonrpc":"2.0","id":99999,"result":{}}"# + "\n")
                peer.send(#"{"jsonrpc":"2.0","id":"text","result":{}}"# + "\n")
                peer.notify("event.account", "{}")
                peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "other"))
                peer.answer(request, ScriptedAnswers.status)
            }
        }
        let status = try await connection(to: broker).call(GetBrokerStatus.self, .init())
        #expect(status.uptime == 3725)
    }

    @Test(
        "requests beyond the socket's buffer are kept until the broker reads on, without blocking")
    func backlog() async throws {
        let gate = Gate()
        let broker = try ScriptedBroker { peer in
            gate.block()
            while let request = peer.request() { peer.answer(request, #"{"account":null}"#) }
        }
        let connection = connection(to: broker)
        let begun = Recorder<Void>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<24 {
                group.addTask {
                    begun.add(())
                    let params = AcquireTokenSilent.Params(
                        .registered("mail"), scopes: [String(repeating: "s", count: 60_000)])
                    _ = try await connection.result(of: AcquireTokenSilent.self, params)
                }
            }
            // All begin although none is answered: their requests wait in memory, not in a thread.
            group.addTask {
                try await eventually("all have begun") { begun.all.count == 24 }
                gate.open()
            }
            try await group.waitForAll()
        }
    }

    @Test("a request longer than the broker's limit is not sent")
    func tooLong() async throws {
        let broker = try ScriptedBroker.answering { _ in ScriptedAnswers.status }
        let connection = connection(to: broker)
        let params = CompleteInteraction.Params(url: "https://" + String(repeating: "x", count: 1 << 20))
        let error = await connection.failure(of: CompleteInteraction.self, params)
        #expect(error?.code == .invalidParameter)
        #expect(try await connection.call(GetBrokerStatus.self, .init()).protocol == 1)
    }

    @Test(
        "invalid input ends the connection with a clear error instead of an endless wait",
        arguments: ["garbage\n", "[]\n", "{\"jsonrpc\":\"2.0\"}\n", "{\"id\":1,\"error\":7}\n", "\u{0}\n"])
    func noise(_ line: String) async throws {
        let broker = try ScriptedBroker { peer in
            _ = peer.request()
            peer.send(line)
            peer.waitForEnd()
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: GetBrokerStatus.self, .init())
        #expect(error?.code == .invalidResponse)
        #expect(error?.isRetryable == false)
    }

    @Test("an endless line is cut off before it fills the memory")
    func endlessLine() async throws {
        let broker = try ScriptedBroker { peer in
            _ = peer.request()
            let piece = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<9 where peer.send(bytes: piece[...]) {}
            peer.waitForEnd()
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: GetBrokerStatus.self, .init())
        #expect(error?.code == .invalidResponse)
    }

    @Test("a result of another form is an error, and the connection continues")
    func wrongShape() async throws {
        let broker = try ScriptedBroker { peer in
            if let first = peer.request() { peer.answer(first, #"{"accounts":{}}"#) }
            while let request = peer.request() { peer.answer(request, ScriptedAnswers.status) }
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: ListAccounts.self, .init())
        #expect(error?.code == .invalidResponse)
        #expect(try await connection.call(GetBrokerStatus.self, .init()).mode == .user)
    }

    @Test("every detail of the broker's error is available")
    func errorDetails() async throws {
        let more =
            #","reason":"refreshTokenExpired","correlationId":"c-9","oauthError":"invalid_grant","subError":"bad_token","#
            + #""description":"expired","httpStatus":400,"retryAfter":17,"grantedScopes":["a"],"declinedScopes":["b"],"#
            + #""accounts":[\#(ScriptedAnswers.account())]"#
        let broker = try ScriptedBroker { peer in
            if let request = peer.request() {
                peer.fail(request, "interactionRequired", message: "Sign in.", more: more)
            }
            peer.waitForEnd()
        }
        let connection = connection(to: broker)
        let error = try #require(await connection.failure(of: AcquireTokenSilent.self, silent))
        #expect(error.code == .interactionRequired)
        #expect(error.message == "Sign in.")
        #expect(error.reason == "refreshTokenExpired")
        #expect(error.correlationId == "c-9")
        #expect(error.oauthError == "invalid_grant")
        #expect(error.subError == "bad_token")
        #expect(error.oauthErrorDescription == "expired")
        #expect(error.httpStatus == 400)
        #expect(error.retryAfter == 17)
        #expect(error.grantedScopes == ["a"])
        #expect(error.declinedScopes == ["b"])
        #expect(error.accounts?.map(\.username) == ["ada@example.org"])
        #expect("\(error)" == "interactionRequired/refreshTokenExpired: Sign in.")
    }

    @Test("a broker's reason for refusing the connection is reported, whether or not it read the request")
    func turnedAway() async throws {
        let broker = try ScriptedBroker { peer in
            peer.send(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Not yours.","#
                    + #""data":{"kind":"accessDenied","retryable":false,"reason":"otherUser"}}}"# + "\n")
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: GetBrokerStatus.self, .init())
        #expect(error?.code == .accessDenied)
        #expect(error?.reason == "otherUser")
    }

    @Test("a cancelled request returns at once, and its late answer affects no other")
    func cancelled() async throws {
        let arrived = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let first = peer.request() else { return }
            arrived.add(first.method)
            guard let second = peer.request() else { return }
            peer.answer(first, ScriptedAnswers.token())
            peer.answer(second, ScriptedAnswers.status)
            peer.waitForEnd()
        }
        let connection = connection(to: broker)
        let waiting = Task {
            await connection.failure(of: AcquireTokenSilent.self, silent)
        }
        #expect(await arrived.next() == "token.acquireSilent")
        waiting.cancel()
        #expect(await waiting.value?.code == .canceled)
        #expect(try await connection.call(GetBrokerStatus.self, .init()).connections == 1)
    }

    @Test("a task that is already cancelled sends nothing")
    func cancelledBefore() async throws {
        let seen = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                seen.add(request.method)
                peer.answer(request, ScriptedAnswers.status)
            }
        }
        let connection = connection(to: broker)
        let error = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await connection.failure(of: AcquireTokenSilent.self, silent)
        }.value
        #expect(error?.code == .canceled)
        _ = try await connection.call(GetBrokerStatus.self, .init())
        #expect(await seen.next() == "broker.status")
    }
}
