import BrokerTestSupport
import Foundation
import Testing

@Suite("Questions without echo")
struct HiddenInputTests {
    /// Prints whether the terminal echoes during the question and afterwards, and how the program ended.
    private static let driver = """
        import os, pty, sys, termios
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        text = b""
        while b"assphrase" not in text:
            text += os.read(terminal, 4096)
        def echoes(): return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        before = echoes()
        # Ctrl-\\, Ctrl-Z and Ctrl-C
        os.write(terminal, b"\\x1c\\x1a\\x03")
        _, status = os.waitpid(pid, 0)
        print(before, echoes(), os.waitstatus_to_exitcode(status))
        """

    @Test("a terminal echoes again after Ctrl-C at a passphrase, and the program has ended by it")
    func interrupted() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let export = [
                try PackageTree.program("brokerctl"), "--socket", broker.socket, "cache", "export", bed.path("backup"),
            ]
            let result = try await bed.run(Launch("/usr/bin/python3", ["-c", Self.driver] + export))
            #expect(result.output == "False True 130\n", "\(result)")
            #expect(!FileManager.default.fileExists(atPath: bed.path("backup")))
        }
    }
}
