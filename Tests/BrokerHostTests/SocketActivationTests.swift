import BrokerTestSupport
import Foundation
import Testing

/// With systemd's own systemd-socket-activate, which starts the probe when a client connects.
@Suite("Sockets from the service manager")
struct SocketActivationTests {
    @Test("the socket named brokerd.socket is used, and its variables are hidden from children")
    func taken() async throws {
        try await withTestBed { bed in
            let output = try await activate(in: bed, ["--fdname=brokerd.socket"])
            #expect(output.contains("socket \(bed.path("s"))\n"))
            #expect(output.contains("variables left: \n"))
        }
    }

    @Test("a socket of another name is refused, and the message names the setting")
    func otherName() async throws {
        try await withTestBed { bed in
            let output = try await activate(in: bed, ["--fdname=other.socket"])
            #expect(output.contains("refused") && output.contains("FileDescriptorName=brokerd.socket"))
        }
    }

    @Test("a single socket without a name is the broker's own")
    func unnamed() async throws {
        try await withTestBed { bed in
            let output = try await activate(in: bed, [])
            #expect(output.contains("socket \(bed.path("s"))\n"))
        }
        try await withTestBed { bed in
            let two = try await activate(in: bed, ["--listen=\(bed.path("other"))"])
            #expect(two.contains("refused") && two.contains("FileDescriptorName=brokerd.socket"))
        }
    }

    @Test("two sockets of that name are refused")
    func several() async throws {
        try await withTestBed { bed in
            let output = try await activate(
                in: bed, ["--fdname=brokerd.socket:brokerd.socket", "--listen=\(bed.path("other"))"])
            #expect(output.contains("refused") && output.contains("2 sockets"))
        }
    }

    @Test("sockets of doors are accepted by their names, and others are closed")
    func doors() async throws {
        try await withTestBed { bed in
            let output = try await activate(
                in: bed,
                [
                    "--fdname=brokerd.socket:door.socket:stranger.socket", "--listen=\(bed.path("door"))",
                    "--listen=\(bed.path("stranger"))",
                ])
            #expect(output.contains("socket \(bed.path("s"))\ndoor.socket \(bed.path("door"))\nvariables left"))
        }
    }

    @Test("two sockets of one door are refused, and so is a door without the broker's own")
    func misplacedDoors() async throws {
        try await withTestBed { bed in
            let twice = try await activate(
                in: bed,
                [
                    "--fdname=brokerd.socket:door.socket:door.socket", "--listen=\(bed.path("door"))",
                    "--listen=\(bed.path("more"))",
                ])
            #expect(twice.contains("refused") && twice.contains("2 sockets called door.socket"))
        }
        try await withTestBed { bed in
            let alone = try await activate(in: bed, ["--fdname=door.socket"])
            #expect(alone.contains("refused") && alone.contains("FileDescriptorName=brokerd.socket"))
        }
    }

    @Test("a datagram socket is refused")
    func datagram() async throws {
        try await withTestBed { bed in
            let output = try await activate(in: bed, ["--fdname=brokerd.socket", "--datagram"])
            #expect(output.contains("refused") && output.contains("stream"))
        }
    }

    @Test("a process without socket activation opens its own socket")
    func notActivated() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("activation")
            #expect(await probe.exitStatus() == .exited(0))
            #expect(probe.outputText.contains("socket none"))
        }
    }

    /// Starts the probe through a connection to the socket `s`, and returns its output.
    private func activate(in bed: TestBed, _ options: [String]) async throws -> String {
        let path = bed.path("s")
        let program = try PackageTree.program("host-probe")
        let activator = try bed.start(
            Launch("systemd-socket-activate", ["--listen=\(path)"] + options + [program, "activation"]))
        try await eventually("the activator listens") {
            try activator.requireRunning()
            return knock(path, stream: !options.contains("--datagram"))
        }
        _ = await activator.exitStatus()
        return activator.outputText
    }
}

/// Connects, or sends an empty datagram, and hangs up.
private func knock(_ path: String, stream: Bool) -> Bool {
    let descriptor = socket(AF_UNIX, Int32((stream ? SOCK_STREAM : SOCK_DGRAM).rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            let length = socklen_t(MemoryLayout<sockaddr_un>.size)
            guard connect(descriptor, $0, length) == 0 else { return false }
            return stream || send(descriptor, "", 0, 0) == 0
        }
    }
}
