import BrokerCommandLine
import BrokerTestSupport
import Foundation
import Testing

@Suite("Completion in shells")
struct CompletionTests {
    private static func app(_ name: String) -> String {
        #"{"name":"\#(name)","clientId":"c","authority":"https://idp","scopes":[],"executables":[],"units":[],"#
            + #""sandboxIds":[],"confidential":false}"#
    }

    /// Includes names that a shell must not get.
    private func broker(_ bed: TestBed) throws -> ScriptedBroker {
        let trap = "$(touch \(bed.path("trapped")))"
        let apps = ["mail", "notes", trap].map(Self.app).joined(separator: ",")
        let accounts = ["ada@example.org", trap].map { ScriptedAnswers.account(username: $0) }.joined(separator: ",")
        return try BrokerCommandsTests.broker([
            "apps.list": #"{"apps":[\#(apps)]}"#, "accounts.list": #"{"accounts":[\#(accounts)]}"#,
        ])
    }

    @Test("--names prints only names that a shell would not expand")
    func names() async throws {
        try await withTestBed { bed in
            let broker = try broker(bed)
            #expect(try await brokerctl(["apps", "list", "--names"], at: broker.path).output == "mail\nnotes\n")
            #expect(
                try await brokerctl(["accounts", "list", "--names"], at: broker.path).output == "ada@example.org\n")
        }
    }

    @Test("bash completes subcommands, existing apps and accounts, and executes no name")
    func bash() async throws {
        try await withTestBed { bed in
            let broker = try broker(bed)
            let brokerctl = try PackageTree.program("brokerctl")
            let script = """
                source <(brokerctl completion bash)
                complete_words() {
                    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                    $(complete -p brokerctl | sed 's/.*-F \\([^ ]*\\).*/\\1/') brokerctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                    echo "${COMPREPLY[*]}"
                }
                complete_words brokerctl sta
                complete_words brokerctl token --app ""
                complete_words brokerctl accounts show ""
                complete_words brokerctl apps show ""
                complete_words brokerctl apps edit ""
                complete_words brokerctl grants list --app ""
                complete_words brokerctl grants approve --app ""
                complete_words brokerctl grants approve --account ""
                """
            let result = try await bed.run(
                Launch(
                    "/bin/bash", ["-c", script],
                    environment: [
                        "BROKER_SOCKET": broker.path,
                        "PATH": URL(filePath: brokerctl).deletingLastPathComponent().path + ":/usr/bin:/bin",
                    ]))
            let lines = result.output.split(separator: "\n")
            try #require(lines.count == 8, "\(result)")
            #expect(
                lines[0] == "status" && lines[1] == "mail notes" && lines[2].contains("ada@example.org"), "\(result)")
            #expect(lines[3..<7].allSatisfy { $0 == "mail notes" } && lines[7] == "ada@example.org", "\(result)")
            #expect(!FileManager.default.fileExists(atPath: bed.path("trapped")))
        }
    }
}

extension CompletionTests {
    /// A PATH with the built brokerctl before the system's programs.
    private static func path() throws -> String {
        try URL(filePath: PackageTree.program("brokerctl")).deletingLastPathComponent().path + ":/usr/bin:/bin"
    }

    @Test("fish completes the same and executes no name")
    func fish() async throws {
        try await withTestBed { bed in
            let broker = try broker(bed)
            let script = """
                brokerctl completion fish | source
                complete -C 'brokerctl sta'; echo ==
                complete -C 'brokerctl token --app '; echo ==
                complete -C 'brokerctl accounts show '; echo ==
                complete -C 'brokerctl token --format '; echo ==
                complete -C 'brokerctl kube-credential --token '
                """
            let result = try await bed.run(
                Launch(
                    "/usr/bin/fish", ["--no-config", "-c", script],
                    environment: ["BROKER_SOCKET": broker.path, "PATH": try Self.path(), "HOME": bed.path("home")]))
            let parts = result.output.components(separatedBy: "==\n")
            try #require(parts.count == 5, "\(result)")
            #expect(parts[0].hasPrefix("status"), "\(result)")
            #expect(parts[1].contains("mail") && parts[1].contains("notes"), "\(result)")
            #expect(parts[2].contains("ada@example.org"), "\(result)")
            // Each value has a description of its own or none, never the option's.
            #expect(parts[3].contains("raw\tthe token alone\n"), "\(result)")
            #expect(
                parts[4].split(separator: "\n").sorted()
                    == ["access\tfor an API", "id\tfor a program that asks who you are"], "\(result)")
            #expect(!FileManager.default.fileExists(atPath: bed.path("trapped")))
        }
    }

    /// Types at a shell's prompt. The test's part gives the shell as `words`, a line that readies it, and what to type:
    /// each step is text up to Tab, and what the shell adds to it.
    private static let driver = #"""
        import os, pty, select, sys
        def drive(words, ready, steps):
            pid, fd = pty.fork()
            if pid == 0:
                os.execvp(words[0], words)
            seen = ""
            def until(text):
                nonlocal seen
                while text not in seen:
                    if not select.select([fd], [], [], 30)[0]:
                        sys.exit("no " + text + " in " + seen)
                    seen += os.read(fd, 65536).decode(errors="replace")
                seen = seen.split(text, 1)[1]
            def say(text): os.write(fd, text.encode())
            say(ready + "\n")
            until("READY")
            for step in steps:
                for start, end in step:
                    say(start + "\t")
                    until(start)
                    until(end)
                say("\x15")
                print("completed", step)

        """#

    private func atPrompt(_ part: String, at broker: ScriptedBroker, in bed: TestBed) async throws -> CommandResult {
        try await bed.run(
            Launch(
                "/usr/bin/python3", ["-c", Self.driver + part],
                environment: [
                    "BROKER_SOCKET": broker.path, "PATH": try Self.path(), "HOME": bed.path("home"), "TERM": "dumb",
                ]))
    }

    @Test("zsh completes the same at its prompt and executes no name")
    func zsh() async throws {
        try await withTestBed { bed in
            let broker = try broker(bed)
            let part = #"""
                drive(["zsh", "-f", "-i"],
                    "PS1='%% '; autoload -Uz compinit && compinit -u -D; source <(brokerctl completion zsh); "
                    "compdef _brokerctl brokerctl; print REA'DY'",
                    [[("brokerctl sta", "tus")], [("brokerctl token --app ma", "il")],
                     [("brokerctl accounts show ad", "a@example.org")]])
                """#
            let result = try await atPrompt(part, at: broker, in: bed)
            #expect(result.output.split(separator: "\n").count == 3, "\(result)")
            #expect(!FileManager.default.fileExists(atPath: bed.path("trapped")))
        }
    }

    /// Bash replaces only the part of a word after such a character.
    @Test("bash completes names with @ and : at its prompt, alone and after an option's name")
    func bashWordBreaks() async throws {
        try await withTestBed { bed in
            let accounts = ["ada@example.org", "ada@example.com", "urn:x:bob", "urn:x:eve"]
                .map { ScriptedAnswers.account(username: $0) }.joined(separator: ",")
            let broker = try BrokerCommandsTests.broker(["accounts.list": #"{"accounts":[\#(accounts)]}"#])
            let part = #"""
                drive(["bash", "--norc", "--noprofile", "-i"],
                    "PS1='$ '; source <(brokerctl completion bash); echo REA'DY'",
                    [[("brokerctl accounts show ad", "a@example."), ("o", "rg ")],
                     [("brokerctl token --account=ad", "a@example."), ("c", "om ")],
                     [("brokerctl token --account ur", "n:x:"), ("b", "ob ")],
                     [("brokerctl token --account ada@", "example."), ("o", "rg ")]])
                """#
            let result = try await atPrompt(part, at: broker, in: bed)
            #expect(result.output.split(separator: "\n").count == 4, "\(result)")
        }
    }
}
