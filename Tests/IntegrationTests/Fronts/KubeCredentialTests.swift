import BrokerTestSupport
import Foundation
import Testing

@Suite(
    "kubectl, a cluster's API, and the broker as its credential plug-in",
    .enabled(if: Prerequisite.kubectl.shouldRun, "\(Prerequisite.kubectl.missing ?? "")"))
struct KubeCredentialTests {
    @Test("pods are listed with the account's ID token, without another request to the provider")
    func idToken() async throws {
        try await withTestBed { bed in
            let kube = try await KubeScene.make(in: bed)
            try kube.accept(try await kube.scene.signIn().token.text("idToken"))
            let result = try await kube.kubectl("get", "pods")
            #expect(result.succeeded && result.output.contains("pod-one"), "\(result)")
            #expect(kube.scene.provider.refreshes == 0)
        }
    }

    @Test("if the cluster accepts access tokens, it gets the one for the requested scope")
    func accessToken() async throws {
        try await withTestBed { bed in
            let kube = try await KubeScene.make(
                in: bed, ["--token", "access", "--scope", DevelopmentScene.scope])
            try kube.accept(try await kube.scene.signIn().accessToken)
            let result = try await kube.kubectl("get", "pods")
            #expect(result.succeeded && result.output.contains("pod-one"), "\(result)")
        }
    }

    @Test("without a sign-in kubectl shows the command for it, and no window opens")
    func nobody() async throws {
        try await withTestBed { bed in
            let kube = try await KubeScene.make(in: bed)
            let result = try await kube.kubectl("get", "pods")
            #expect(!result.succeeded)
            #expect(result.errors.contains("To sign in: brokerctl login --app notes"), "\(result)")
            #expect(!kube.requests.contains { $0.hasPrefix("200") })
            #expect(!kube.scene.provider.log.contains { $0.endpoint == .authorize })
        }
    }

    @Test("an expired ID token is renewed before kubectl gets it, with one refresh")
    func staleIDToken() async throws {
        try await withTestBed { bed in
            let kube = try await KubeScene.make(in: bed)
            kube.scene.provider.setPolicy { $0.idTokenLifetime = 1 }
            let old = try await kube.scene.signIn().token.text("idToken")
            kube.scene.provider.setPolicy { $0.idTokenLifetime = 3600 }
            try await eventually("the ID token has ended") {
                try await kube.scene.broker.ctl(["kube-credential", "--app", "notes"]).output.contains(old) == false
            }
            let new = try await kube.scene.silent().text("idToken")
            #expect(new != old)
            try kube.accept(new)
            let result = try await kube.kubectl("get", "pods")
            #expect(result.succeeded, "\(result)")
            #expect(kube.scene.provider.refreshes == 1)
        }
    }
}
