import BrokerCommandLine
import BrokerLink
import BrokerRPC

/// Opens the user's browser and says so. If none can be started, the user opens the page by hand: on another machine,
/// or in a browser that was not found.
struct AnnouncedBrowser: BrowserOpening {
    let output: Output
    let web: WebviewParameters
    /// The sign-in command, without its browser options.
    let command: [String]

    func open(_ page: SignInPage) async throws {
        do {
            try await web.browser.open(page)
        } catch let error as BrokerClientError where error.code == .browserNotAvailable {
            output.aside(error.message.clean)
            try await PrintedPage(output: output).open(page)
            output.aside("Or cancel, and sign in by a code on another device, or by pasting the address you end up at:")
            for option in ["--device-code", "--manual"] { output.aside(output.errorLayout.command(command + [option])) }
            return
        }
        output.aside("Your browser shows the sign-in page; waiting until you are done (Ctrl-C cancels).")
        // A program that opened nothing may still have exited with 0: BROWSER=true, or xdg-open on another machine.
        output.aside("If it does not, open this address:")
        output.aside(page.url.cleanWhole)
    }
}

/// Prints the page's address on a line of its own, for opening by hand.
struct PrintedPage: BrowserOpening {
    let output: Output

    func open(_ page: SignInPage) async throws {
        output.aside("Open this page to sign in (Ctrl-C cancels):")
        // Programs read the result from standard output.
        if output.json { output.aside(page.url.cleanWhole) } else { output.line(page.url.cleanWhole) }
    }
}

/// For a browser on another machine: the redirect cannot reach the broker, so the user pastes it.
struct PastedRedirect: BrowserOpening {
    let connection: BrokerConnection
    let output: Output

    func open(_ page: SignInPage) async throws {
        try await PrintedPage(output: output).open(page)
        let lines = StandardInput.lines()
        output.aside(
            "Your browser then ends up at an address that begins with \(page.redirectUri.cleanWhole) and may say that it cannot be "
                + "reached. Copy that address and paste it here:")
        for await line in lines {
            let pasted = line.trimmed
            guard !pasted.isEmpty else { continue }
            do throws(BrokerClientError) {
                _ = try await connection.call(CompleteInteraction.self, .init(url: pasted))
                return
            } catch {
                guard error.code == .invalidParameter else { throw error }
                output.aside(error.message.clean)
            }
        }
        throw BrokerClientError(
            .userCanceled, "Standard input ended before a redirect was pasted; the sign-in was canceled.")
    }
}
