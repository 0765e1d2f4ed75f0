import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Sign-in in a real browser") struct BrowserSignInTests {
    @Test("a person signs in on glewlwyd's page in Chromium, and the broker's page confirms it")
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
            // The page's own policy blocked nothing, and the code does not stay in the URL of the page.
            #expect(try await browser.console.filter { $0.contains("Content Security Policy") } == [])
            let accessToken = signIn.accessToken
            #expect(!(try await browser.pageSource).contains(accessToken))
        }
    }
}
