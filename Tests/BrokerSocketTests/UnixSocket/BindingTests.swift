import BrokerSocket
import BrokerTestSupport
import Foundation
import Logging
import Testing

@Suite("Where the broker puts its socket")
struct BindingTests {
    private func facts(_ path: String) throws -> stat {
        var facts = stat()
        try #require(lstat(path, &facts) == 0)
        return facts
    }

    private func mode(_ path: String) throws -> mode_t { try facts(path).st_mode & 0o7777 }

    /// A bound socket file whose owner is gone.
    private func makeStale(_ path: String) throws {
        let socket = try rawSocket(at: path, listening: true)
        // A process that another test is just starting has a copy of the descriptor until it executes its program.
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private func rawSocket(at path: String, type: Int32 = Int32(SOCK_STREAM.rawValue), listening: Bool) throws -> Int32
    {
        let descriptor = socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(bound)
        if listening { try #require(listen(descriptor, 1) == 0) }
        return descriptor
    }

    @Test("folders that are missing are made 0700, the socket is 0600; for everybody they are 0755 and 0666")
    func modes() async throws {
        try await withTestBed { bed in
            let path = bed.path("run/brokerd/broker.sock")
            let socket = try ListeningSocket.bind(SocketPlace(path: path))
            #expect(try mode(bed.path("run")) == 0o700)
            #expect(try mode(bed.path("run/brokerd")) == 0o700)
            #expect(try mode(path) == 0o600)
            let open = try ListeningSocket.bind(SocketPlace(path: bed.path("run/open/open.sock"), audience: .everybody))
            #expect(try mode(bed.path("run/open")) == 0o755)
            #expect(try mode(bed.path("run/open/open.sock")) == 0o666)
            close(socket.descriptor)
            close(open.descriptor)
        }
    }

    @Test("a socket left by a broker that died is taken over")
    func stale() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            try makeStale(path)
            await #expect(throws: LineClient.Failure.system("connect", ECONNREFUSED)) {
                try await LineClient.connect(to: path)
            }
            let socket = try ListeningSocket.bind(SocketPlace(path: path))
            await #expect(throws: Never.self) { try await LineClient.connect(to: path).close() }
            close(socket.descriptor)
        }
    }

    @Test("a socket where somebody answers is left alone, also one whose queue is full")
    func alive() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            let other = try rawSocket(at: path, listening: true)
            defer { close(other) }
            let before = try facts(path).st_ino
            #expect(throws: SocketError.inUse(path: path)) { try ListeningSocket.bind(SocketPlace(path: path)) }
            // Each try leaves a connection that nobody accepts, until no more fit.
            for _ in 0..<5 {
                #expect(throws: SocketError.inUse(path: path)) { try ListeningSocket.bind(SocketPlace(path: path)) }
            }
            #expect(try facts(path).st_ino == before)
        }
    }

    @Test("of many brokers that find the same stale socket at once exactly one gets it")
    func race() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            for _ in 0..<20 {
                try makeStale(path)
                let sockets = await withTaskGroup(of: ListeningSocket?.self) { group in
                    for _ in 0..<8 { group.addTask { try? ListeningSocket.bind(SocketPlace(path: path)) } }
                    return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
                }
                #expect(sockets.count == 1)
                for socket in sockets {
                    await #expect(throws: Never.self) { try await LineClient.connect(to: path).close() }
                    close(socket.descriptor)
                }
                unlink(path)
            }
        }
    }

    @Test("a file, a link, a link to nowhere, a folder or another kind of socket at the path is never removed")
    func squatters() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            let victim = bed.path("victim")
            try "precious".write(toFile: victim, atomically: false, encoding: .utf8)

            func expectOccupied(_ why: String) throws {
                let before = try facts(path)
                #expect(throws: SocketError.occupied(path: path, why: why)) {
                    try ListeningSocket.bind(SocketPlace(path: path))
                }
                #expect(try facts(path).st_ino == before.st_ino)
            }

            try "a file".write(toFile: path, atomically: false, encoding: .utf8)
            try expectOccupied("is not a socket")
            unlink(path)

            symlink(victim, path)
            try expectOccupied("is not a socket")
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
            unlink(path)

            symlink(bed.path("nowhere"), path)
            try expectOccupied("is not a socket")
            #expect(access(bed.path("nowhere"), F_OK) != 0)
            unlink(path)

            mkdir(path, 0o700)
            try expectOccupied("is not a socket")
            rmdir(path)

            let datagram = try rawSocket(at: path, type: Int32(SOCK_DGRAM.rawValue), listening: false)
            defer { close(datagram) }
            try expectOccupied("is a socket of another type")
        }
    }

    @Test("a socket of another user is not removed", .enabled(if: geteuid() == 0, "needs root to make one"))
    func otherOwner() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            try makeStale(path)
            try #require(lchown(path, 65534, 65534) == 0)
            #expect(throws: SocketError.occupied(path: path, why: "belongs to another user (uid 65534)")) {
                try ListeningSocket.bind(SocketPlace(path: path))
            }
            #expect(try facts(path).st_uid == 65534)
        }
    }

    @Test("a folder that others own, can write to, or that is a link is refused")
    func folders() async throws {
        try await withTestBed { bed in
            let open = try bed.makeDirectory("open")
            chmod(open, 0o770)
            let link = bed.path("link")
            symlink(try bed.makeDirectory("real"), link)
            var folders = [open: "can be written to by other users", link: "is a link or no folder"]
            if geteuid() == 0 {
                let foreign = try bed.makeDirectory("foreign")
                try #require(chown(foreign, 65534, 65534) == 0)
                folders[foreign] = "belongs to another user (uid 65534)"
            }
            for (folder, why) in folders {
                #expect(throws: SocketError.unsafeFolder(path: folder, why: why)) {
                    try ListeningSocket.bind(SocketPlace(path: folder + "/broker.sock"))
                }
                #expect(access(folder + "/broker.sock", F_OK) != 0)
            }
        }
    }

    @Test("a path that does not fit a socket address is refused with the limit, before anything is made")
    func tooLong() async throws {
        try await withTestBed { bed in
            let path = bed.path(String(repeating: "d", count: 60) + "/" + String(repeating: "s", count: 60))
            #expect(throws: SocketError.pathTooLong(path: path, limit: 107)) {
                try ListeningSocket.bind(SocketPlace(path: path))
            }
            let made = try FileManager.default.contentsOfDirectory(atPath: bed.directory.path)
            #expect(made == [])
        }
    }

    @Test("what has replaced the socket meanwhile is not removed at shutdown")
    func replaced() async throws {
        try await withListener(ScriptedService()) { bed in
            unlink(bed.path)
            try "somebody else's".write(toFile: bed.path, atomically: false, encoding: .utf8)
            await bed.listener.shutDown(within: .seconds(1))
            #expect(try String(contentsOfFile: bed.path, encoding: .utf8) == "somebody else's")
        }
    }

    @Test("an inherited listener serves, and its path stays when the broker goes; who wrote what came before is known")
    func inherited() async throws {
        try await withTestBed { bed in
            let path = bed.path("activated.sock")
            let descriptor = try rawSocket(at: path, listening: true)
            let reactor = try Reactor()
            bed.atEnd { await reactor.stop() }
            // It came before the broker did, as with socket activation.
            let early = try await LineClient.connect(to: path)
            try await early.sendLine("early")
            let script = """
                import os, socket, sys
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                child = os.fork()
                if child == 0:
                    connection.sendall(b'handed on\\n')
                    os._exit(0)
                os.waitpid(child, 0)
                print('sent', flush=True)
                assert connection.makefile().readline() == 'handed on\\n'
                """
            let other = try bed.start(Launch("/usr/bin/python3", ["-c", script, path]), as: "other")
            try await other.waitForText("sent")
            let service = ScriptedService()
            let listener = try await LocalListener.start(
                ListeningSocket.inherited(descriptor), on: reactor, service: service, logger: Logger(label: "test"))
            #expect(try await early.readLine() == "early")
            #expect(try await early.ask("later") == "later")
            #expect(await other.exitStatus() == .exited(0))
            #expect(Set(service.peers.map(\.pid)) == [getpid(), other.pid])
            let writer = try #require(service.writers.first)
            #expect(service.writers.count == 1 && writer.pid != getpid() && writer.pid != other.pid)
            await listener.shutDown(within: .seconds(1))
            #expect(try facts(path).st_mode & S_IFMT == S_IFSOCK)
        }
    }

    @Test("a socket of its own asks who writes before anybody can connect, so that no connection begins without it")
    func asksFromTheBeginning() async throws {
        try await withTestBed { bed in
            let path = bed.path("broker.sock")
            let socket = try ListeningSocket.bind(SocketPlace(path: path))
            defer { close(socket.descriptor) }
            let early = try await LineClient.connect(to: path)
            let accepted = accept(socket.descriptor, nil, nil)
            try #require(accepted >= 0)
            defer { close(accepted) }
            for descriptor in [socket.descriptor, accepted] {
                var (isAsked, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
                try #require(getsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &isAsked, &length) == 0)
                #expect(isAsked == 1)
            }
            await early.close()
        }
    }

    @Test("an inherited descriptor that is no listening Unix stream socket is refused")
    func notAListener() async throws {
        try await withTestBed { bed in
            let datagram = try rawSocket(
                at: bed.path("d"), type: Int32(SOCK_DGRAM.rawValue), listening: false)
            let quiet = try rawSocket(at: bed.path("q"), listening: false)
            let internet = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listen(internet, 1)
            let file = open(bed.path("f"), O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            for descriptor in [datagram, quiet, internet, file, 9999] {
                #expect(throws: SocketError.notAListener(descriptor: descriptor)) {
                    try ListeningSocket.inherited(descriptor)
                }
                if descriptor != 9999 { close(descriptor) }
            }
        }
    }

    @Test("every refusal says what to do next")
    func messages() {
        let errors: [SocketError] = [
            .pathTooLong(path: "/p", limit: 107), .unsafeFolder(path: "/p", why: "is a link or no folder"),
            .inUse(path: "/p"), .occupied(path: "/p", why: "is not a socket"), .notAListener(descriptor: 3),
            .system(doing: "bind the socket at /p", code: EACCES),
        ]
        #expect(
            errors.map(\.description) == [
                "The socket path /p is longer than the 107 bytes that the system allows; choose a shorter one.",
                "The socket's folder /p is a link or no folder; use a folder of your own with mode 0700.",
                "Another program answers at /p; stop it, or choose another path with --socket.",
                "/p is not a socket; remove it, or choose another path with --socket.",
                "Descriptor 3 is not a listening Unix stream socket; hand over one that listens.",
                "Could not bind the socket at /p: Permission denied.",
            ])
    }
}
