import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Testing

/// The client waits for a slow broker, and gives up on one that answers no one.
@Suite("Waiting for an answer") struct LivenessTests {
    private var liveness: Liveness {
        var liveness = Liveness()
        liveness.silence = .milliseconds(20)
        liveness.answerTime = .milliseconds(200)
        return liveness
    }

    /// Answers the first connection after at least `probes` others have requested the broker's status: more of them may come
    /// before a thread counts.
    private func slowBroker(answersAfter probes: Int) throws -> ScriptedBroker {
        let (asked, mayAnswer) = (Recorder<String>(), Gate())
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                guard peer.number > 1 else {
                    mayAnswer.block()
                    peer.answer(request, ScriptedAnswers.token("AT-late"))
                    continue
                }
                asked.add(request.method)
                peer.answer(request, ScriptedAnswers.status)
                if asked.all.count(where: { $0 == "broker.status" }) >= probes { mayAnswer.open() }
            }
        }
    }

    @Test("a request waits while the broker answers on another connection")
    func slow() async throws {
        var liveness = liveness
        liveness.answerTime = .seconds(600)
        let broker = try slowBroker(answersAfter: 3)
        let connection = BrokerConnection(location: SocketLocation(path: broker.path), liveness: liveness)
        #expect(try await connection.call(AcquireTokenSilent.self, silent).accessToken == "AT-late")
    }

    @Test("a program without tasks waits likewise")
    func slowDirectly() throws {
        var liveness = liveness
        liveness.answerTime = .seconds(600)
        let broker = try slowBroker(answersAfter: 3)
        let connection = DirectConnection(location: SocketLocation(path: broker.path), liveness: liveness)
        #expect(try connection.call(AcquireTokenSilent.self, silent).accessToken == "AT-late")
    }

    @Test("a refusal on the other connection counts as a sign of life")
    func refusal() throws {
        let mayAnswer = Gate()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            guard peer.number == 1 else {
                peer.fail(request, "accessDenied")
                return mayAnswer.open()
            }
            mayAnswer.block()
            peer.answer(request, ScriptedAnswers.token("AT-late"))
        }
        var liveness = liveness
        liveness.answerTime = .seconds(600)
        let connection = DirectConnection(location: SocketLocation(path: broker.path), liveness: liveness)
        #expect(try connection.call(AcquireTokenSilent.self, silent).accessToken == "AT-late")
    }

    @Test("a request fails if the broker answers no one")
    func dead() async throws {
        let broker = try ScriptedBroker { $0.waitForEnd() }
        let connection = BrokerConnection(location: SocketLocation(path: broker.path), liveness: liveness)
        let error = await connection.failure(of: AcquireTokenSilent.self, silent)
        #expect(error?.code == .brokerNotAvailable)
    }

    @Test("a program without tasks gives up as well, even while its request is not fully sent")
    func deadDirectly() throws {
        let isOver = Gate()
        let broker = try ScriptedBroker { _ in isOver.block() }
        defer { isOver.open() }
        let connection = DirectConnection(location: SocketLocation(path: broker.path), liveness: liveness)
        let long = CompleteInteraction.Params(url: "https://" + String(repeating: "x", count: 900_000))
        let error = #expect(throws: BrokerClientError.self) { try connection.call(CompleteInteraction.self, long) }
        #expect(error?.code == .brokerNotAvailable)
    }
}
