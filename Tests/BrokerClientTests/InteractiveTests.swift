import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Signing in")
struct InteractiveTests {
    struct NoScreen: Error {}

    @Test("the page is shown, and the token is returned after the person is done")
    func signIn() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: id))
            // The person is done when the redirect arrives.
            guard let completion = peer.request() else { return }
            peer.answer(completion, #"{"accepted":true}"#)
            peer.answer(request, ScriptedAnswers.token("AT-\(completion.string("url") ?? "")"))
            peer.waitForEnd()
        }
        let application = try application(broker)
        let pages = Recorder<SignInPage>()
        let web = WebviewParameters { page in
            pages.add(page)
            try await application.handleResponse("\(page.redirectUri)?code=1")
        }
        let result = try await application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["email"], webviewParameters: web))
        #expect(result.accessToken == "AT-http://127.0.0.1:4000/?code=1")
        let page = try #require(await pages.next())
        #expect(page.url == "https://idp.example.org/authorize?state=s")
        #expect(page.interactionId == "i-1")
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

    @Test("two concurrent sign-ins show each its own page")
    func twoAtATime() async throws {
        let broker = try ScriptedBroker { peer in
            let requests = (0..<2).compactMap { _ in peer.request() }
            for request in requests.reversed() {
                let id = request.string("correlationId") ?? ""
                peer.notify(
                    "interaction.open",
                    ScriptedAnswers.opening(
                        interactionId: "i-\(request.firstScope)", url: "https://idp.example.org/\(request.firstScope)",
                        correlationId: id))
            }
            while let shown = peer.request() {
                peer.answer(shown, #"{"accepted":true}"#)
                guard let request = requests.first(where: { shown.string("url")?.hasSuffix($0.firstScope) == true })
                else { return }
                peer.answer(request, ScriptedAnswers.token("AT-\(request.firstScope)"))
            }
        }
        let application = try application(broker)
        let web = WebviewParameters { page in try await application.handleResponse(page.url) }
        async let one = application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["one"], webviewParameters: web))
        async let two = application.acquireToken(
            with: InteractiveTokenParameters(scopes: ["two"], webviewParameters: web))
        let tokens = try await [one.accessToken, two.accessToken]
        #expect(tokens == ["AT-one", "AT-two"])
    }

    @Test("a page that cannot be shown cancels the sign-in and is reported")
    func cannotShow() async throws {
        let cancelled = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(interactionId: "i-7", correlationId: id))
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

    @Test("cancelling the task ends the sign-in at the broker")
    func cancelAfterOpen() async throws {
        let cancelled = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(interactionId: "i-8", correlationId: id))
            if let cancel = peer.request() { cancelled.add("\(cancel.method) \(cancel.params)") }
            peer.waitForEnd()
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
        #expect(await cancelled.next() == #"interaction.cancel {"interactionId":"i-8"}"#)
    }

    @Test("a cancellation before the broker names the sign-in ends it as soon as it does, without a page")
    func cancelBeforeOpen() async throws {
        let arrived = Recorder<String>()
        let gate = Gate()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            arrived.add(request.method)
            gate.block()
            peer.notify("interaction.open", ScriptedAnswers.opening(interactionId: "i-9", correlationId: id))
            if let cancel = peer.request() { arrived.add("\(cancel.method) \(cancel.params)") }
            peer.waitForEnd()
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
        #expect(await arrived.next() == "token.acquireInteractive")
        waiting.cancel()
        #expect(await waiting.value?.code == .canceled)
        gate.open()
        #expect(await arrived.next() == #"interaction.cancel {"interactionId":"i-9"}"#)
        shown.add(false)
        #expect(await shown.next() == false)
    }

    @Test("a page with another request's id is shown if there is only one request it can be for")
    func joined() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "somebody-else"))
            guard let completion = peer.request() else { return }
            peer.answer(completion, #"{"accepted":true}"#)
            peer.answer(request, ScriptedAnswers.token())
            peer.waitForEnd()
        }
        let application = try application(broker)
        let web = WebviewParameters { page in try await application.handleResponse(page.url) }
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

    @Test("a code that cannot be shown, and a cancelled task, cancel at the broker", arguments: [true, false])
    func cancelled(byThrowing: Bool) async throws {
        let cancelled = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), let id = request.string("correlationId") else { return }
            peer.notify("interaction.deviceCode", Self.notice(id))
            guard let cancel = peer.request() else { return }
            cancelled.add("\(cancel.method) \(cancel.string("interactionId") ?? "")")
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
        #expect(await cancelled.next() == "interaction.cancel i-9")
    }
}
