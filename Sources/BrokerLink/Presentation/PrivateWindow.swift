import Glibc

/// The person's default browser with a window that shares no session with the others (MSAL: `prefersEphemeralWebBrowserSession`).
struct PrivateWindow: BrowserOpening {
    func open(_ page: SignInPage) async throws {
        let found =
            await ChildProcess.output(of: ["xdg-settings", "get", "default-web-browser"])
            ?? SocketLocation.variable("BROWSER")
        let name = (found ?? "").filter { !$0.isNewline }
        guard let command = Self.command(for: name) else {
            let which = name.isEmpty ? "No default browser is set" : "Private windows of \(name) are not supported"
            throw BrokerClientError(
                .browserNotAvailable, "\(which); name the command that opens one, or use the usual window.")
        }
        try await SystemBrowser(command: command).open(page)
    }

    /// The command that opens a private window.
    ///
    /// - Parameter browser: a desktop entry (`firefox-esr.desktop`), or a program with or without its path.
    static func command(for browser: String) -> [String]? {
        let file = browser.split(separator: "/").last.map(String.init) ?? ""
        let name = file.hasSuffix(".desktop") ? String(file.dropLast(".desktop".count)) : file
        let known = [
            ("firefox", "--private-window"), ("librewolf", "--private-window"), ("chromium", "--incognito"),
            ("google-chrome", "--incognito"), ("brave", "--incognito"), ("vivaldi", "--incognito"),
            ("microsoft-edge", "--inprivate"), ("opera", "--private"),
        ]
        guard !name.isEmpty, let option = known.first(where: { name.hasPrefix($0.0) })?.1 else { return nil }
        // A desktop entry is usually named like its program; a name with other characters is none of these.
        guard name.utf8.allSatisfy({ $0 == 0x2d || $0 == 0x2e || isalnum(Int32($0)) != 0 }) else { return nil }
        return [browser.contains("/") ? browser : name, option]
    }
}
