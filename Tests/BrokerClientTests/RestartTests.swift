import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("A broker that restarts")
struct RestartTests {
    @Test("the next request after a restart goes to the new broker")
    func reconnects() async throws {
        let broker = try ScriptedBroker { peer in
            // Each connection serves one request and ends, as if the broker stopped after it.
            if let request = peer.request() { peer.answer(request, ScriptedAnswers.token("AT-\(peer.number)")) }
        }
        let connection = connection(to: broker)
        for number in 1...3 {
            let token = try await connection.call(AcquireTokenSilent.self, silent)
            #expect(token.accessToken == "AT-\(number)")
        }
    }

    @Test("a silent request whose answer was lost is sent once more")
    func silentRepeated() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), peer.number > 1 else { return }
            peer.answer(request, ScriptedAnswers.token("AT-\(peer.number)"))
        }
        let token = try await connection(to: broker).call(AcquireTokenSilent.self, silent)
        #expect(token.accessToken == "AT-2")
    }

    @Test("a silent request that is lost twice fails, and may be retried")
    func silentLostTwice() async throws {
        let requests = Recorder<Int>()
        let broker = try ScriptedBroker { peer in
            if peer.request() != nil { requests.add(peer.number) }
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: AcquireTokenSilent.self, silent)
        #expect(error?.code == .connectionLost)
        #expect(error?.isRetryable == true)
        #expect(await requests.next() == 1)
        #expect(await requests.next() == 2)
    }

    @Test("a request that changes state and was sent is not sent again")
    func removalNotRepeated() async throws {
        let requests = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                requests.add("\(request.method) on \(peer.number)")
                if request.method == "accounts.remove" { return }
                peer.answer(request, ScriptedAnswers.status)
            }
        }
        let connection = connection(to: broker)
        let params = RemoveAccount.Params(.id("acc-1"), from: .registered("mail"))
        let error = await connection.failure(of: RemoveAccount.self, params)
        #expect(error?.code == .connectionLost)
        #expect(error?.isRetryable == true)
        _ = try await connection.call(GetBrokerStatus.self, .init())
        #expect(await requests.next() == "accounts.remove on 1")
        #expect(await requests.next() == "broker.status on 2")
    }

    private func refuse(_ request: ScriptedRequest, _ peer: ScriptedPeer) {
        peer.fail(request, "serverUnavailable", more: #","reason":"shuttingDown""#)
    }

    @Test("a request refused by a stopping broker goes to the next one, pending ones are answered there")
    func refusedWhileStopping() async throws {
        let arrived = Recorder<String>()
        let otherIsAnswered = Gate()
        let broker = try ScriptedBroker { peer in
            guard let first = peer.request() else { return }
            guard peer.number == 1 else { return peer.answer(first, ScriptedAnswers.status) }
            arrived.add(first.method)
            guard let second = peer.request() else { return }
            refuse(second, peer)
            otherIsAnswered.block()
            peer.answer(first, ScriptedAnswers.token("AT-1"))
        }
        let connection = connection(to: broker)
        async let token = connection.call(AcquireTokenSilent.self, silent)
        #expect(await arrived.next() == "token.acquireSilent")
        #expect(try await connection.call(GetBrokerStatus.self, .init()).connections == 1)
        otherIsAnswered.open()
        #expect(try await token.accessToken == "AT-1")
    }

    @Test("a request refused by two stopping brokers fails, and both connections are left")
    func refusedTwice() async throws {
        let requests = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                requests.add("\(request.method) on \(peer.number)")
                refuse(request, peer)
            }
        }
        let connection = connection(to: broker)
        let error = await connection.failure(of: AcquireTokenSilent.self, silent)
        #expect(error?.code == .serverUnavailable && error?.reason == "shuttingDown")
        let params = RemoveAccount.Params(.id("acc-1"), from: .registered("mail"))
        let removal = await connection.failure(of: RemoveAccount.self, params)
        #expect(removal?.reason == "shuttingDown")
        #expect(await requests.next() == "token.acquireSilent on 1")
        #expect(await requests.next() == "token.acquireSilent on 2")
        #expect(await requests.next() == "accounts.remove on 3")
        #expect(await requests.next() == "accounts.remove on 4")
    }

    @Test("a request that a stopping broker refused goes to the next one, even if it changes state")
    func refusedChange() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            guard peer.number > 1 else {
                refuse(request, peer)
                // It still answers another request, and keeps the connection.
                return peer.waitForEnd()
            }
            peer.answer(request, #"{"removed":2}"#)
        }
        let connection = connection(to: broker)
        let params = RemoveAccount.Params(.id("acc-1"), from: .registered("mail"))
        #expect(try await connection.call(RemoveAccount.self, params).removed == 2)
    }

    @Test("a sign-in that a stopping broker interrupted is not repeated, the next request uses the next broker")
    func interrupted() async throws {
        let requests = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                requests.add("\(request.method) on \(peer.number)")
                if peer.number == 1 {
                    peer.fail(request, "serverUnavailable", more: #","reason":"interrupted""#)
                } else {
                    peer.answer(request, ScriptedAnswers.status)
                }
            }
        }
        let connection = connection(to: broker)
        let signIn = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["email"])
        let error = await connection.failure(of: AcquireTokenInteractive.self, signIn)
        #expect(error?.code == .serverUnavailable && error?.reason == "interrupted")
        _ = try await connection.call(GetBrokerStatus.self, .init())
        #expect(await requests.next() == "token.acquireInteractive on 1")
        #expect(await requests.next() == "broker.status on 2")
    }

    @Test("a program with sequential requests leaves a stopping broker, too, and repeats a refused request")
    func directLeaves() throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                switch peer.number {
                case 1: refuse(request, peer)
                case 2: peer.fail(request, "serverUnavailable", more: #","reason":"interrupted""#)
                default: peer.answer(request, #"{"removed":\#(peer.number)}"#)
                }
            }
        }
        let connection = DirectConnection(location: SocketLocation(path: broker.path))
        let params = RemoveAccount.Params(.id("acc-1"), from: .registered("mail"))
        let error = #expect(throws: BrokerClientError.self) { try connection.call(RemoveAccount.self, params) }
        #expect(error?.reason == "interrupted")
        #expect(try connection.call(RemoveAccount.self, params).removed == 3)
    }

    @Test("a program with sequential requests repeats likewise")
    func direct() throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            if peer.number == 1 { return refuse(request, peer) }
            peer.answer(request, ScriptedAnswers.token("AT-\(peer.number)"))
        }
        let connection = DirectConnection(location: SocketLocation(path: broker.path))
        #expect(try connection.call(AcquireTokenSilent.self, silent).accessToken == "AT-2")
    }

    @Test("a partial answer at the end of a connection does not count")
    func halfAnswer() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            if peer.number == 1 {
                peer.send(#"{"jsonrpc":"2.0","id":\#(request.id),"result":{"accessToken":"HALF"#)
            } else {
                peer.answer(request, ScriptedAnswers.token("WHOLE"))
            }
        }
        let token = try await connection(to: broker).call(AcquireTokenSilent.self, silent)
        #expect(token.accessToken == "WHOLE")
    }

    @Test("a request that was never sent completely is sent again, regardless of its method")
    func unsentRepeated() async throws {
        // More than a socket buffers. The first broker reads nothing, and ends when the beginning has arrived.
        let params = CompleteInteraction.Params(url: "https://" + String(repeating: "x", count: 900_000))
        let broker = try ScriptedBroker { peer in
            guard peer.number > 1 else { return peer.waitForInput() }
            if let request = peer.request() { peer.answer(request, #"{"accepted":true}"#) }
        }
        let connection = connection(to: broker)
        #expect(try await connection.call(CompleteInteraction.self, params).accepted)
    }

    @Test("the client waits for a broker that takes a moment to restart")
    func gap() async throws {
        let path = try ScriptedBroker.newPath()
        let (arrived, isStopped) = (Recorder<String>(), Gate())
        let first = try ScriptedBroker(path: path) { peer in
            guard let request = peer.request() else { return }
            arrived.add(request.method)
            // It discards the request.
            isStopped.block()
        }
        let pauses = Recorder<Duration>()
        let mayGoOn = Gate()
        let connection = BrokerConnection(location: SocketLocation(path: path), patience: .seconds(600)) { pause in
            pauses.add(pause)
            // The first pause follows the loss, the second one an attempt to connect without a listener.
            if pauses.all.count == 2 { await mayGoOn.wait() }
        }
        async let token = connection.call(AcquireTokenSilent.self, silent).accessToken
        #expect(await arrived.next() == "token.acquireSilent")
        first.stop()
        isStopped.open()
        try await mayGoOn.waitForCallers()
        let second = try ScriptedBroker(path: path) { peer in
            if let request = peer.request() { peer.answer(request, ScriptedAnswers.token("AT-second")) }
        }
        mayGoOn.open()
        #expect(try await token == "AT-second")
        second.stop()
    }

    @Test("a broker that hangs up on every connection is given up after a while")
    func hangsUp() async throws {
        let broker = try ScriptedBroker { _ in }
        let connection = connection(to: broker, patience: .milliseconds(100))
        let error = await connection.failure(of: AcquireTokenSilent.self, silent)
        #expect(error?.code == .connectionLost)
        #expect(error?.isRetryable == true)
    }
}
