import BrokerSocket
import BrokerTestSupport
import Dispatch
import Foundation
import Testing

@Suite("A connection that a process hands on to another", .serialized)
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

    /// Sends a descriptor with a line, prints how that ended, and waits until nobody has the descriptor any more.
    private static let sending = """
        import array, os, socket, sys
        read, write = os.pipe()
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        if len(sys.argv) > 2:
            connection.sendall(b'first\\n')
            assert connection.makefile().readline() == 'first\\n'
        rights = array.array('i', [write] * 3)
        try:
            connection.sendall(b'begun ')
            connection.sendmsg([b'line\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            print('sent', flush=True)
            print(connection.makefile().read(), end='')
        except PermissionError:
            print('not permitted')
        os.close(write)
        assert os.read(read, 1) == b''
        """

    /// Waits without holding one of the tests' own threads.
    private static func signal(from semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                semaphore.wait()
                done.resume()
            }
        }
    }

    @Test("descriptors are never taken, neither later nor before the connection was accepted")
    func refusedDescriptors() async throws {
        let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let service = ScriptedService(
            onLine: { line, connection in
                connection.say(line)
                guard line == "busy" else { return }
                isBusy.signal()
                mayGoOn.wait()
            })
        try await withListener(service) { (bed) async throws in
            let later = try await bed.bed.run(Launch("/usr/bin/python3", ["-c", Self.sending, bed.path, "later"]))
            #expect(later.succeeded && ["not permitted\n", "sent\ndescriptors\n"].contains(later.output), "\(later)")
            let client = try await bed.connect()
            try await client.sendLine("busy")
            await Self.signal(from: isBusy)
            let early = try bed.bed.start(Launch("/usr/bin/python3", ["-c", Self.sending, bed.path]), as: "early")
            try await early.waitForText("sent")
            mayGoOn.signal()
            #expect(await early.exitStatus() == .exited(0))
            #expect(early.outputText == "sent\ndescriptors\n")
            // The one that was let in, and the line of the test's own.
            #expect(service.counts.received == 2)
        }
    }

    /// Sends, over and over, what would linger where it is closed, as long as the peer of this lives, and stays.
    private static let hanging = """
        import array, os, socket, struct, sys
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(('127.0.0.1', 0))
        listener.listen()
        kept = []
        def hanging():
            far = socket.socket()
            far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            far.connect(listener.getsockname())
            kept.append(listener.accept()[0])
            far.setblocking(False)
            try:
                while True: far.send(b'x' * 4096)
            except BlockingIOError: pass
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 600))
            # What is closed is a socket in which another one waits: nobody but its maker has a say in how that one ends.
            outer, inner = socket.socketpair()
            inner.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [far.fileno()]))])
            far.close()
            kept.append(inner)
            return outer
        for _ in range(int(sys.argv[2])):
            descriptor = hanging()
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(sys.argv[1])
            rights = array.array('i', [descriptor.fileno()])
            connection.sendmsg([b'line\\n'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            descriptor.close()
            kept.append(connection)
        print('sent', flush=True)
        sys.stdin.readline()
        """

    @Test("whoever sends what lingers keeps no thread")
    func threads() async throws {
        let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let service = ScriptedService(
            onLine: { line, connection in
                connection.say(line)
                guard line == "busy" else { return connection.close() }
                isBusy.signal()
                mayGoOn.wait()
            })
        try await withListener(service) { (bed) async throws in
            // Nobody is accepted, and so refused anything, before all is sent.
            let client = try await bed.connect()
            try await client.sendLine("busy")
            await Self.signal(from: isBusy)
            let before = try Self.threads()
            let crowd = try bed.bed.start(
                Launch("/usr/bin/python3", ["-c", Self.hanging, bed.path, "100"], hasInput: true), as: "crowd")
            try await crowd.waitForText("sent")
            mayGoOn.signal()
            try await eventually("all are accepted") { service.peers.count == 101 }
            try await eventually("all are closed") { bed.listener.connectionCount == 1 }
            // Each that lingers has a thread, for ten minutes. Other tests have theirs.
            try await eventually("the threads have ended") { try Self.threads() < before + 50 }
            crowd.closeInput()
            #expect(await crowd.exitStatus() == .exited(0))
        }
    }

    private static func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
