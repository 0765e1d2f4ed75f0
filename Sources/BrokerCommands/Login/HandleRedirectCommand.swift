import BrokerCommandLine
import BrokerLink
import BrokerRPC

struct HandleRedirectCommand: Subcommand {
    static var about: About {
        About(
            "handle-redirect", "Complete a sign-in from its redirect URL.",
            """
            The desktop runs this for an app's own scheme (apps add --url-handler). The code in the address can be \
            read in this command's arguments while it runs; nobody can redeem it without the verifier, which never \
            leaves the broker. With - the address is read from standard input.

            Examples:
              brokerctl handle-redirect 'msauth.org.example.mail://auth?code=...&state=...'
              wl-paste | brokerctl handle-redirect -
            """)
    }

    var global = GlobalOptions()
    var url = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("url", &url, "The whole address, or - for standard input.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        do throws(BrokerClientError) {
            try context.tell(CompleteInteraction.self, .init(url: try address())) { _ in
                "The sign-in continues where it was started.\n"
            }
        } catch {
            // A desktop does not show the output of its handlers.
            if !StandardStream.error.isTerminal {
                DesktopNotice.show("The sign-in did not go through", error.message.clean)
            }
            throw error
        }
    }

    private func address() throws(BrokerClientError) -> String {
        let text = url == "-" ? (TerminalInput().next() ?? "").trimmed : url
        guard !text.isEmpty else {
            throw BrokerClientError(.invalidParameter, "There is no address; give the whole redirect URL.")
        }
        return text
    }
}
