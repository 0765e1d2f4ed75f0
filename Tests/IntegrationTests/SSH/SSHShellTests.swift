import BrokerTestSupport
import Testing

@Suite("Commands of brokerctl ssh, with any login shell") struct SSHShellTests {
    static let loginShells: [String] = ["bash", "dash", "zsh", "fish", "tcsh", "mksh", "ksh93", "rbash"]
        .compactMap(Launch.find)

    @Test("a command is parsed as by ssh, with any login shell", .needsRoot, arguments: loginShells)
    func shells(shell: String) async throws {
        try await withTestBed { bed in
            let user = FarMachine.User(name: "far", shell: shell, uid: FarMachine.user.uid)
            let scene = try await SSHTests.Scene.make(in: bed, users: [user])
            let commands = [
                ["echo", "a  b", "'c  d'"], ["echo", #""it's""#, "$HOME", "~"],
                ["echo", #"\\"#, #"'a!b'"#, "!x", "'#'"],
                ["echo", "a;", "echo", "b", "|", "tr", "b", "c"], ["echo /etc/host*; false"], ["echo a\necho b\n"],
                ["/bin/sh -c 'exit 7'"], ["cat"], ["-x"], ["echo", "é雪"], ["'"], [" "],
            ]
            for command in commands {
                let plain = try await bed.run(
                    Launch("\(scene.far.programs)/ssh", ["--", "devbox"] + command), input: "in\n")
                let ours = try await bed.run(
                    Launch(
                        try PackageTree.program("brokerctl"),
                        ["--socket", scene.near.broker.socket, "ssh", "--app", "notes", "--", "devbox"] + command,
                        environment: scene.far.environment), input: "in\n")
                #expect(ours.status == plain.status && ours.output == plain.output, "\(command): \(ours) \(plain)")
            }
            let name = shell == "/bin/csh" || shell.hasSuffix("csh") ? "$BROKER_SOCKET:q" : "\"$BROKER_SOCKET\""
            #expect(try await scene.run("devbox", "test -S \(name)").succeeded)
        }
    }
}
