import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Signing in")
struct InteractiveTests {
    struct NoScreen: Error {}

    /// When this many sign-ins wait, each gets a page that is named after its scope. It is answered when a redirect
    /// whose URL contains the scope arrives on another connection.
    private static func redirected(
        pagesFor count: Int = 1, token: @escaping @Sendable (_ url: String) -> String
    ) throws -> ScriptedBroker {
        let signIns = Watched<[(peer: ScriptedPeer, request: ScriptedRequest)]>([])
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                guard request.method == "token.acquireInteractive" else {
                    peer.answer(request, #"{"accepted":true}"#)
                    guard let url = request.string("url") else { continue }
                    for signIn in signIns.withLock({ $0 }) where url.contains(signIn.request.firstScope) {
                        signIn.peer.answer(signIn.request, ScriptedAnswers.token(token(url)))
                    }
                    continue
                }
                let waiting = signIns.withLock { signIns in
                    signIns.append((peer, request))
                    return signIns
                }
                guard waiting.count == count else { continue }
                for signIn in waiting {
                    let scope = signIn.request.firstScope
                    signIn.peer.notify(
                        "interaction.open",
                        ScriptedAnswers.opening(
                            interactionId: "i-\(scope)", url: "https://idp.example.org/\(scope)",
                            correlationId: signIn.request.string("correlationId") ?? "c-1"))
                }
            }
        }
    }

    @Test("the page is shown, and the token is returned after the person is done")
    func signIn() async throws {
        let broker = try Self.redirected { "AT-\($0)" }
        let application = try application(broker)
        let pages = Recorder<SignInPage>()
        let web = WebviewParameters { page in
            pages.add(page)
            try await application.handleResponse("\(page.redirectUri)?code=email")
        }
        let result = try await application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
        #expect(result.accessToken == "AT-http://127.0.0.1:4000/?code=email")
        let page = try #require(await pages.next())
        #expect(page.url == "https://idp.example.org/email")
        #expect(page.interactionId == "i-email")
        #expect(page.expiresOn == 1_900_000_000)
    }

    @Test("all of the app's parameters are in the request")
    func parameters() async throws {
        let requests = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            requests.add(request.params)
            peer.answer(request, ScriptedAnswers.token())
            peer.waitForEnd()
        }
        var configuration = PublicClientApplicationConfig(
            clientId: "client-1", redirectUri: "http://127.0.0.1:9999/cb", authority: "https://idp.example.org")
        configuration.socketPath = broker.path
        configuration.clientApplicationCapabilities = ["cp1"]
        configuration.multipleCloudsSupported = true
        let application = try PublicClientApplication(configuration: configuration)
        var parameters = InteractiveTokenParameters(scopes: ["email", "mail.read"])
        parameters.promptType = .selectAccount
        parameters.loginHint = "ada"
        parameters.domainHint = "example.org"
        parameters.extraScopesToConsent = ["files"]
        parameters.extraQueryParameters = ["ui": "dark"]
        parameters.timeout = 60
        parameters.claimsRequest = #"{"id_token":{}}"#
        parameters.correlationId = "11111111-2222-3333-4444-555555555555"
        parameters.authenticationScheme = .dpop
        parameters.resources = ["https://api.example"]
        parameters.maxAge = 60
        parameters.acrValues = ["c1"]
        parameters.refusesOtherThanLoginHint = true
        parameters.pushesAuthorization = true
        _ = try await application.acquireToken(with: parameters)
        let expected =
            #"{"acrValues":["c1"],"authority":"https:\/\/idp.example.org","claims":"{\"id_token\":{}}","#
            + #""clientCapabilities":["cp1"],"clientId":"client-1","#
            + #""correlationId":"11111111-2222-3333-4444-555555555555","domainHint":"example.org","#
            + #""extraQueryParameters":{"ui":"dark"},"extraScopesToConsent":["files"],"instanceAware":true,"loginHint":"ada","maxAge":60,"#
            + #""prompt":"select_account","pushedAuthorization":true,"redirectUri":"http:\/\/127.0.0.1:9999\/cb","#
            + #""resource":"https:\/\/api.example","scopes":["email","mail.read"],"strictLoginHint":true,"timeout":60,"#
            + #""tokenType":"DPoP"}"#
        #expect(await requests.next() == expected)
    }

    @Test("two concurrent sign-ins with one correlation id show each its own page")
    func twoAtATime() async throws {
        let broker = try Self.redirected(pagesFor: 2) { "AT-\($0.suffix(3))" }
        let application = try application(broker)
        let web = WebviewParameters { page in try await application.handleResponse(page.url) }
        async let one = application.acquireToken(with: Self.correlated("one", web))
        async let two = application.acquireToken(with: Self.correlated("two", web))
        let tokens = try await [one.accessToken, two.accessToken]
        #expect(tokens == ["AT-one", "AT-two"])
    }

    private static func correlated(_ scope: String, _ web: WebviewParameters) -> InteractiveTokenParameters {
        var parameters = InteractiveTokenParameters(scopes: [scope], webviewParameters: web)
        parameters.correlationId = "11111111-2222-3333-4444-555555555555"
        return parameters
    }

    @Test("a page that cannot be shown cancels the sign-in and is reported")
    func cannotShow() async throws {
        let cancelled = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(interactionId: "i-7", correlationId: "c-1"))
            guard let cancel = peer.request() else { return }
            cancelled.add("\(cancel.method) \(cancel.params)")
            peer.answer(cancel, #"{"cancelled":true}"#)
            peer.fail(request, "userCanceled")
            peer.waitForEnd()
        }
        let application = try application(broker)
        let web = WebviewParameters { _ in throw NoScreen() }
        let error = await failure { () async throws(BrokerClientError) in
            try await application.acquireToken(
                with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
        }
        #expect(error?.code == .browserNotAvailable)
        #expect(error?.cause is NoScreen)
        #expect(await cancelled.next() == #"interaction.cancel {"interactionId":"i-7"}"#)
    }

    @Test("cancelling the task ends the sign-in's connection")
    func cancelAfterOpen() async throws {
        let rest = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard peer.request() != nil else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(interactionId: "i-8", correlationId: "c-1"))
            rest.add(peer.rest())
        }
        let application = try application(broker)
        let shown = Recorder<Bool>()
        let web = WebviewParameters { _ in shown.add(true) }
        let waiting = Task {
            await failure { () async throws(BrokerClientError) in
                try await application.acquireToken(
                    with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
            }
        }
        #expect(await shown.next() == true)
        waiting.cancel()
        // The broker never answers the request: the caller does not wait for that.
        #expect(await waiting.value?.code == .canceled)
        // It ends without interaction.cancel, which would end the sign-in for other requests as well.
        #expect(await rest.next() == "")
    }

    @Test("cancelling one of two equal sign-ins leaves the other waiting")
    func cancelOneOfTwo() async throws {
        let (joined, rest, oneHasLeft) = (Recorder<Bool>(), Recorder<String>(), Gate())
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            guard request.method == "token.acquireInteractive" else {
                return peer.answer(request, ScriptedAnswers.status)
            }
            guard peer.number > 1 else {
                peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "c-1"))
                rest.add(peer.rest())
                return oneHasLeft.open()
            }
            joined.add(true)
            oneHasLeft.block()
            peer.answer(request, ScriptedAnswers.token("AT-two"))
            peer.waitForEnd()
        }
        let application = try application(broker)
        let shown = Recorder<Bool>()
        let parameters = Self.correlated("email", WebviewParameters { _ in shown.add(true) })
        let one = Task {
            await failure { () async throws(BrokerClientError) in try await application.acquireToken(with: parameters) }
        }
        #expect(await shown.next() == true)
        let two = Task { try await application.acquireToken(with: parameters) }
        #expect(await joined.next() == true)
        one.cancel()
        #expect(await one.value?.code == .canceled)
        #expect(await rest.next() == "")
        #expect(try await two.value.accessToken == "AT-two")
    }

    @Test("a cancellation before the broker names a page ends the sign-in's connection")
    func cancelBeforeOpen() async throws {
        let arrived = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            arrived.add(request.method)
            arrived.add(peer.rest())
        }
        let application = try application(broker)
        let web = WebviewParameters { _ in Issue.record("there is nothing to open") }
        let waiting = Task {
            await failure { () async throws(BrokerClientError) in
                try await application.acquireToken(
                    with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
            }
        }
        #expect(await arrived.next() == "token.acquireInteractive")
        waiting.cancel()
        #expect(await waiting.value?.code == .canceled)
        #expect(await arrived.next() == "")
    }

    @Test("a page with another request's id is shown")
    func joined() async throws {
        let shown = Gate()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "somebody-else"))
            shown.block()
            peer.answer(request, ScriptedAnswers.token())
            peer.waitForEnd()
        }
        let application = try application(broker)
        let web = WebviewParameters { _ in shown.open() }
        let result = try await application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
        #expect(result.accessToken == "AT-1")
    }
}

@Suite("Signing in on another device")
struct DeviceCodeTests {
    private static func notice(_ correlationID: String) -> String {
        #"{"interactionId":"i-9","userCode":"WDJB","verificationUri":"https://idp.example.org/d","expiresOn":1900000000,"#
            + #""interval":5,"message":"Go there.","correlationId":"\#(correlationID)","later":1}"#
    }

    @Test("the app gets the code, and the token is returned after the person is done")
    func signIn() async throws {
        let shown = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.deviceCode", Self.notice(id))
            shown.add("\(request.method) \(request.params.replacing("\\/", with: "/"))")
            peer.answer(request, ScriptedAnswers.token("AT-7"))
            peer.waitForEnd()
        }
        let codes = Recorder<DeviceCode>()
        var parameters = DeviceCodeParameters(scopes: ["email"])
        parameters.authority = "https://idp.example.org/guests"
        parameters.claimsRequest = "e30"
        parameters.resources = ["https://api.example"]
        parameters.authenticationScheme = .dpop
        parameters.timeout = 60
        parameters.correlationId = "id-1"
        var configuration = PublicClientApplicationConfig(app: "mail")
        configuration.socketPath = broker.path
        configuration.clientApplicationCapabilities = ["cp1"]
        let application = try PublicClientApplication(configuration: configuration)
        let result = try await application.acquireTokenWithDeviceCode(with: parameters) { codes.add($0) }
        #expect(result.accessToken == "AT-7")
        #expect(
            await shown.next()
                == #"token.acquireByDeviceCode {"app":"mail","authority":"https://idp.example.org/guests","#
                + #""claims":"e30","clientCapabilities":["cp1"],"correlationId":"id-1","resource":"https://api.example","#
                + #""scopes":["email"],"timeout":60,"tokenType":"DPoP"}"#
        )
        let code = try #require(await codes.next())
        #expect(code.userCode == "WDJB" && code.verificationUri == "https://idp.example.org/d")
        #expect(code.verificationUriComplete == nil && code.message == "Go there.")
    }

    @Test("a code that cannot be shown cancels at the broker, a cancelled task hangs up", arguments: [true, false])
    func cancelled(byThrowing: Bool) async throws {
        let ended = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard peer.request() != nil else { return }
            peer.notify("interaction.deviceCode", Self.notice("c-1"))
            guard let cancel = peer.request() else { return ended.add("hung up") }
            ended.add("\(cancel.method) \(cancel.string("interactionId") ?? "")")
            peer.answer(cancel, #"{"cancelled":true}"#)
            peer.waitForEnd()
        }
        let application = try application(broker)
        let codes = Recorder<DeviceCode>()
        let signIn = Task {
            await failure { () async throws(BrokerClientError) in
                try await application.acquireTokenWithDeviceCode(with: DeviceCodeParameters(scopes: ["email"])) {
                    codes.add($0)
                    if byThrowing { throw InteractiveTests.NoScreen() }
                }
            }
        }
        _ = await codes.next()
        if !byThrowing { signIn.cancel() }
        #expect(await signIn.value?.code == (byThrowing ? .browserNotAvailable : .canceled))
        #expect(await ended.next() == (byThrowing ? "interaction.cancel i-9" : "hung up"))
    }
}
