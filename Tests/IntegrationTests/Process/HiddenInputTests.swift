import BrokerTestSupport
import Foundation
import Testing

@Suite("Questions without echo")
struct HiddenInputTests {
    /// Waits until the terminal does not echo. Prints whether it does when the program has ended, and how that ended.
    private static let driver = """
        import os, pty, sys, termios, time
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        def echoes(): return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        # There is no event for it. A program that has ended fails the next wait for it.
        while echoes() and os.waitpid(pid, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        # Ctrl-\\, Ctrl-Z and Ctrl-C
        os.write(terminal, b"\\x1c\\x1a\\x03")
        _, status = os.waitpid(pid, 0)
        print(echoes(), os.waitstatus_to_exitcode(status))
        """

    @Test(
        "a terminal echoes again after Ctrl-C at a passphrase or an address, and the program has ended by it",
        arguments: [["cache", "export", "backup"], ["handle-redirect", "-"]])
    func interrupted(command: [String]) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let program = [try PackageTree.program("brokerctl"), "--socket", broker.socket]
            let words = command.map { $0 == "backup" ? bed.path($0) : $0 }
            let result = try await bed.run(Launch("/usr/bin/python3", ["-c", Self.driver] + program + words))
            #expect(result.output == "True 130\n", "\(result)")
            #expect(!FileManager.default.fileExists(atPath: bed.path("backup")))
        }
    }

    /// Types a passphrase at a terminal that is the program's standard input, and its controlling terminal or not.
    private static let typist = """
        import os, pty, subprocess, sys, termios
        terminal, its = pty.openpty()
        owns = sys.argv[1] == "own"
        program = subprocess.Popen(
            sys.argv[2:], stdin=its, stdout=subprocess.DEVNULL, stderr=its, start_new_session=True,
            preexec_fn=(lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0)) if owns else None)
        os.close(its)
        shown = b""
        for _ in range(2):
            seen = len(shown)
            while b": " not in shown[seen:]:
                shown += os.read(terminal, 4096)
            os.write(terminal, b"correct horse\\n")
        print(program.wait(), b"correct horse" in shown)
        """

    @Test(
        "a passphrase that is typed is not shown, with --stdin as well, and without a controlling terminal",
        arguments: ["own", "other"], [[], ["--stdin"]])
    func typed(terminal: String, options: [String]) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let export = [
                try PackageTree.program("brokerctl"), "--socket", broker.socket, "cache", "export", bed.path("backup"),
            ]
            let result = try await bed.run(
                Launch("/usr/bin/python3", ["-c", Self.typist, terminal] + export + options))
            #expect(result.output == "0 False\n", "\(result)")
            #expect(FileManager.default.fileExists(atPath: bed.path("backup")))
        }
    }

    @Test("an export replaces a file with --force, and no link or device")
    func replaced() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let (file, link) = (bed.path("backup"), bed.path("link"))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
            func export(_ path: String) async throws -> CommandResult {
                try await broker.ctl(["cache", "export", path, "--force", "--stdin"], input: "correct horse\n")
            }
            #expect(try await export(file).succeeded)
            #expect(try await export(file).succeeded)
            for other in [link, "/dev/full"] {
                let refused = try await export(other)
                #expect(refused.status == .exited(1) && refused.errors.contains("not a regular file"), "\(refused)")
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
        }
    }

    /// A signal just before the read would wait for its end, so each read ends after a second.
    private static let editor = """
        #!/bin/bash
        trap 'echo a key' INT
        echo editing
        until read -rt 1; do :; done
        echo 'log.level = "debug"' > "$1"

        """

    /// Presses Ctrl-C in an editor that takes it for a key, and then ends the editor.
    private static let editing = """
        import os, pty, sys
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        text = b""
        def until(end):
            global text
            while end not in text:
                text += os.read(terminal, 4096)
        until(b"editing")
        os.write(terminal, b"\\x03")
        until(b"a key")
        os.write(terminal, b"\\n")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """

    @Test("Ctrl-C in an editor that takes it for a key leaves the edit alone")
    func editor() async throws {
        try await withTestBed { bed in
            let editor = bed.path("editor")
            try Self.editor.write(toFile: editor, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: editor)
            let command = [try PackageTree.program("brokerctl"), "config", "edit"]
            let result = try await bed.run(
                Launch(
                    "/usr/bin/python3", ["-c", Self.editing] + command,
                    environment: [
                        "HOME": bed.directory.path, "XDG_CONFIG_HOME": bed.path("config"), "EDITOR": editor,
                        "PATH": "/usr/bin:/bin",
                    ]))
            #expect(result.output == "0\n", "\(result)")
            let file = try String(contentsOfFile: bed.path("config/brokerd/config.toml"), encoding: .utf8)
            #expect(file.contains("debug"))
        }
    }
}
