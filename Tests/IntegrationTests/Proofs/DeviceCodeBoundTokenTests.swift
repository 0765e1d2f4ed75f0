import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A device code for a bound token") struct DeviceCodeBoundTokenTests {
    @Test(
        "after approval on another device the token is bound, and a subscriber gets start and end events"
    )
    func signIn() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let subscriber = try await scene.broker.connect()
            _ = try await subscriber.call("broker.subscribe", ["topics": ["interaction"]])
            let connection = try await scene.broker.connect()
            let provider = scene.provider
            let person = Task { () -> String in
                while let message = await connection.nextNotification() {
                    guard message["method"] == "interaction.deviceCode" else { continue }
                    provider.decideDevice(message.text("params.userCode"), approvedBy: "alice")
                    return message.text("params.interactionId")
                }
                return ""
            }
            let token = try await connection.call(
                "token.acquireByDeviceCode",
                ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "tokenType": "DPoP"])
            #expect(token.text("tokenType") == "DPoP")
            #expect(token.text("authorizationHeader").hasPrefix("DPoP "))
            #expect(token.text("account.username") == "alice")
            let proof = try await scene.broker.call(
                "token.proof", ["app": "notes", "httpMethod": "GET", "url": "https://api.example/mail"])
            #expect(proof.text("proof").split(separator: ".").count == 3)
            let id = await person.value
            let events = [await subscriber.nextNotification(), await subscriber.nextNotification()]
            #expect(events.map { $0?.text("params.change") } == ["opened", "succeeded"])
            #expect(events.allSatisfy { $0?.text("params.interactionId") == id })
            await connection.close()
            await subscriber.close()
        }
    }
}
