import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Device code over a real socket")
struct DeviceCodeTests {
    private func begin(_ server: ServerBed, on client: LineClient) async throws -> InteractionDeviceCode.Params {
        var params = AcquireTokenByDeviceCode.Params(.registered("mail"), scopes: ["read"])
        params.correlationId = "my-id"
        try await client.send(AcquireTokenByDeviceCode.requestLine(id: 5, params))
        let notice = try await client.readJSON()
        #expect(notice["method"]?.value == "interaction.deviceCode")
        return try InteractionDeviceCode.Params(reading: try #require(notice["params"]))
    }

    @Test("the code is notified, then the token is returned, and later ones come from the cache")
    func signIn() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            let code = try await begin(server, on: client)
            #expect(code.userCode == "WDJB-MJHT")
            #expect(code.verificationURI == "\(ServerBed.authority)/device")
            #expect(code.verificationURIComplete == "\(ServerBed.authority)/device?code=WDJB-MJHT")
            #expect(code.expiresOn == server.clock.now + 600)
            #expect(code.interval == 5)
            #expect(code.correlationID == "my-id")
            #expect(code.message.contains("WDJB-MJHT"))
            try await server.clock.waitForSleepers()
            server.clock.advance(bySeconds: 5)
            let token = try Token(reading: try await client.readResult())
            #expect(token.accessToken == "at-1")
            #expect(token.correlationId == "my-id")
            #expect(try await client.call(AcquireTokenSilent.self, .of("mail")).accessToken == token.accessToken)
        }
    }

    @Test("interaction.cancel answers the waiting request")
    func cancel() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            let code = try await begin(server, on: client)
            let cancelled = try await server.connect().call(
                CancelInteraction.self, .init(interactionId: code.interactionID))
            #expect(cancelled.cancelled)
            let answer = try await client.readJSON()
            #expect(answer["id"]?.value == 5)
            #expect(answer["error"]?["data"]?["kind"]?.value == "userCanceled")
            #expect(answer["error"]?["data"]?["correlationId"]?.value == "my-id")
        }
    }

    @Test("the connection's end ends the wait")
    func leaving() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            let code = try await begin(server, on: client)
            try await server.clock.waitForSleepers()
            await client.close()
            try await eventually("the broker waits no more") { server.clock.sleepers == 0 }
            let cancelled = try await server.connect().call(
                CancelInteraction.self, .init(interactionId: code.interactionID))
            #expect(!cancelled.cancelled)
        }
    }

    @Test("an authority next to app is for this request, and must be of the app's kind and host")
    func otherAuthority() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            var params = AcquireTokenByDeviceCode.Params(.registered("mail"), scopes: ["read"])
            for other in ["https://login.microsoftonline.com/common", "https://other.example"] {
                params.selection.authority = other
                try await client.send(AcquireTokenByDeviceCode.requestLine(id: 5, params))
                #expect(try await client.readJSON()["error"]?["data"]?["kind"]?.value == "invalidAuthority")
            }
            params.selection.authority = "\(ServerBed.authority)/guests"
            try await client.send(AcquireTokenByDeviceCode.requestLine(id: 6, params))
            let notice = try await client.readJSON()
            #expect(
                notice["params"]?["verificationUri"]?.value
                    == .string("\(ServerBed.authority)/guests/device"))
        }
    }
}
