import BrokerSystem
import BrokerTestSupport
import CBrokerLinux
import Glibc
import Testing

@Suite("A process that is referred to by a descriptor")
struct PeerProcessTests {
    @Test("a process runs until it has ended, and no longer even before it is reaped")
    func ended() async throws {
        try await withTestBed { bed in
            // Its status is taken without reaping it.
            let program = try bed.start(Launch("cat", [], hasInput: true))
            let descriptor = broker_hold_process(program.pid)
            try #require(descriptor >= 0)
            let peer = PeerProcess(owning: descriptor)
            #expect(peer.isRunning && peer.isRunning)
            program.closeInput()
            #expect(await program.exitStatus() == .exited(0))
            #expect(!peer.isRunning && !peer.isRunning)
            #expect(kill(program.pid, 0) == 0, "it has not been waited for")
            await program.stop()
            #expect(!peer.isRunning, "nor does it run afterwards")
        }
    }

    @Test("a process that was killed no longer runs")
    func killed() async throws {
        try await withTestBed { bed in
            let program = try bed.start(Launch("cat", [], hasInput: true))
            let peer = PeerProcess(owning: broker_hold_process(program.pid))
            #expect(peer.isRunning)
            program.send(SIGKILL)
            #expect(await program.exitStatus() == .killed(signal: SIGKILL))
            #expect(!peer.isRunning)
        }
    }

    @Test("the descriptor is closed with the object")
    func closed() async throws {
        let isClosed = try await separately { () throws -> Bool in
            let descriptor = broker_hold_process(getpid())
            guard descriptor >= 0 else { throw ProcessFailure("pidfd_open: errno \(errno)") }
            var peer: PeerProcess? = PeerProcess(owning: descriptor)
            guard peer?.isRunning == true, fcntl(descriptor, F_GETFD) >= 0 else { return false }
            peer = nil
            return fcntl(descriptor, F_GETFD) < 0 && errno == EBADF
        }
        #expect(isClosed)
    }
}
