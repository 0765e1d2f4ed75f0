import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// systemd expands command lines again: it inserts variables of the user's manager, which may contain other programs' secrets.
@Suite("Command lines that the user's systemd runs", .needsLab)
struct HandOverLabTests {
    @Test("a browser gets its arguments and the URL unchanged, and no variable of the manager")
    func browser() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            let browser = "/usr/local/bin/browser"
            try await lab.root(
                "sh", "-c", "printf '%s' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh", browser,
                "#!/bin/sh\nprintf '%s\\n' \"$@\" > ~/seen.new\nmv ~/seen.new ~/seen\n")
            try await lab.user("systemctl", "--user", "set-environment", "AWS_SECRET_ACCESS_KEY=leaked")
            let words = [
                "$AWS_SECRET_ACCESS_KEY", "${AWS_SECRET_ACCESS_KEY}", "$", "$$", "$$$AWS_SECRET_ACCESS_KEY", "%h",
                "a  b",
                #"\x41\n"#, #"'"`;|&"#, "",
            ]
            let command = BrowserCommand(program: browser, words: words).asUnit
            let url = "https://idp.example/$AWS_SECRET_ACCESS_KEY/?a=${AWS_SECRET_ACCESS_KEY}&b='c;d'%20%24"
            let started = try await lab.attempt(command.commandLine(for: url))
            #expect(started.succeeded, "\(started)")
            let seen = try await awaited("the browser runs") {
                let seen = try await lab.attempt("cat", "/home/\(SystemdLab.user)/seen")
                return seen.succeeded ? seen.output : nil
            }
            #expect(seen == (words + [HandOver.address(url)]).map { $0 + "\n" }.joined())
        }
    }
}
