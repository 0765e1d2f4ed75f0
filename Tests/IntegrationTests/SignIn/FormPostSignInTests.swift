import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("A sign-in with a form_post response")
struct FormPostSignInTests {
    @Test(
        "Chromium sends the code in a form, and no URL contains it",
        .enabled(if: Prerequisite.chromium.shouldRun, "needs chromium and chromium-driver"))
    func chromium() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(
                in: bed, options: { $0.configuration = "interaction.form_post = true\n" })
            let browser = try await HeadlessBrowser.start(in: bed)
            let signIn = try await scene.broker.interact(app: "notes", scopes: [DevelopmentScene.scope]) { url in
                #expect(url.contains("response_mode=form_post"))
                try await browser.open(url)
                try await browser.fill(browser.find("#username"), Person.alice.name)
                try await browser.fill(browser.find("#password"), Person.alice.password)
                try await browser.click(browser.findButton("Sign in"))
                try await browser.click(browser.findButton("Continue"))
                try await browser.findHeading("signed in")
                return nil
            }
            #expect(signIn.token[path: "account.username"] == "alice")
            let address = try await browser.url
            #expect(address.hasPrefix("http://127.0.0.1:") && !address.contains("code="), "\(address)")
            #expect(try await scene.silent()["fromCache"] == true)
        }
    }
}
