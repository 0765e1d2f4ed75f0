import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Sign-in in a real browser") struct BrowserSignInTests {
    @Test("a person signs in on glewlwyd's own page in Chromium, and reads on the broker's page that it is done")
    func ownLoginPage() async throws {
        try await withTestBed { bed in
            let redirectURI = "http://127.0.0.1:\(try FreePort.next())/signed-in"
            let provider = try await GlewlwydProvider.start(in: bed, redirectURIs: [redirectURI])
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register(
                "mail", clientID: provider.clientID, authority: provider.authority,
                ["redirectUri": .string(redirectURI)])
            let browser = try await HeadlessBrowser.start(in: bed)

            let signIn = try await broker.interact(app: "mail") { url in
                try await provider.signIn(.alice, at: url, in: browser)
                try await browser.waitForURL(prefix: redirectURI)
                return nil
            }
            #expect(signIn.token[path: "account.username"] == "alice")

            #expect(try await browser.title.localizedCaseInsensitiveContains("signed in"))
            let text = try await browser.visibleText
            #expect(text.localizedCaseInsensitiveContains("you can close this"), "\(text)")
            // Nothing was refused by the page's own policy, and the code does not stay in the address bar's page.
            #expect(try await browser.console.filter { $0.contains("Content Security Policy") } == [])
            let accessToken = signIn.accessToken
            #expect(!(try await browser.pageSource).contains(accessToken))
        }
    }
}
