import BrokerSocket
import BrokerTestSupport
import Glibc
import Testing

@Suite("A connection that a process hands on to another")
struct HandedOnTests {
    /// Connects, writes what the letters say (c: who connected, o: another process, t: a third one), and prints the answers.
    private static let script = """
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        for step in sys.argv[2].split(','):
            text = (step[1:] + ('' if step.endswith('-') else '\\n')).replace('-', '').encode()
            if step[0] == 'c':
                connection.sendall(text)
                continue
            name = step[0]
            child = os.fork()
            if child == 0:
                connection.sendall(text)
                os._exit(0)
            os.waitpid(child, 0)
        connection.shutdown(socket.SHUT_WR)
        sys.stdout.write(connection.makefile().read())
        """

    private func answers(_ steps: String, _ bed: ListenerBed) async throws -> String {
        let result = try await bed.bed.run(Launch("/usr/bin/python3", ["-c", Self.script, bed.path, steps]))
        #expect(result.succeeded, "\(result)")
        return result.output
    }

    @Test("lines of who connected are nobody else's")
    func plain() async throws {
        let service = ScriptedService()
        try await withListener(service) { (bed) async throws in
            #expect(try await answers("cone,ctwo", bed) == "one\ntwo\n")
            #expect(service.writers.isEmpty)
        }
    }

    @Test("who writes on it later is told before the first line of it")
    func handedOn() async throws {
        let service = ScriptedService()
        try await withListener(service) { (bed) async throws in
            #expect(try await answers("cone,otwo", bed) == "one\ntwo\n")
            let writer = try #require(service.writers.first)
            let peer = try #require(service.peers.first)
            #expect(service.writers.count == 1 && writer.pid != peer.pid && writer.uid == getuid())
        }
    }

    @Test("no line is of two, and no connection goes back and forth")
    func mixed() async throws {
        for (steps, expected) in [
            ("cbegun-,oended", "many writers\n"), ("cone,otwo,cthree", "one\ntwo\nmany writers\n"),
            ("oone,ttwo", "one\nmany writers\n"),
        ] {
            let service = ScriptedService()
            try await withListener(service) { (bed) async throws in
                #expect(try await answers(steps, bed) == expected, "\(steps)")
            }
        }
    }

    @Test("a descriptor that takes its time to close keeps nobody waiting")
    func lingering() async throws {
        let service = ScriptedService()
        try await withListener(service) { (bed) async throws in
            let script = """
                import array, os, socket, struct, sys
                listener = socket.socket()
                listener.bind(('127.0.0.1', 0))
                listener.listen()
                far = socket.create_connection(listener.getsockname())
                near, _ = listener.accept()
                far.setblocking(False)
                try:
                    while True: far.send(b'x' * 65536)
                except BlockingIOError: pass
                far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 600))
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                number = far.detach()
                for count in (1, 5):
                    rights = array.array('i', [number] * count)
                    connection.sendmsg([b'line\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                # The broker's copies are the last ones.
                os.dup2(os.open('/dev/null', os.O_RDONLY), number)
                assert connection.makefile().readline() == 'line\\n'
                connection.close()
                other = socket.socket(socket.AF_UNIX)
                other.connect(sys.argv[1])
                other.sendall(b'still here\\n')
                assert other.makefile().readline() == 'still here\\n'
                """
            let result = try await bed.bed.run(Launch("/usr/bin/python3", ["-c", script, bed.path]))
            #expect(result.succeeded, "\(result)")
        }
    }

    @Test("descriptors that nobody asked for are closed")
    func descriptors() async throws {
        let service = ScriptedService()
        try await withListener(service) { (bed) async throws in
            let script = """
                import array, os, socket, sys
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                for count in (1, 2, 3, 40):
                    read, write = os.pipe()
                    rights = array.array('i', [write] * count)
                    connection.sendmsg([b'line\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                    os.close(write)
                    assert os.read(read, 1) == b''
                """
            let result = try await bed.bed.run(Launch("/usr/bin/python3", ["-c", script, bed.path]))
            #expect(result.succeeded, "\(result)")
            #expect(service.counts.received == 4)
        }
    }
}
