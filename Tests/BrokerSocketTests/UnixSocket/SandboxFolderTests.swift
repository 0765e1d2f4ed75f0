import BrokerSocket
import BrokerTestSupport
import Foundation
import Testing

@Suite("Folders of sandboxes' sockets")
struct SandboxFolderTests {
    @Test("remains of a broker that died are removed, but not a live socket or another kind of file")
    func dead() async throws {
        try await withTestBed { bed in
            let folders = SandboxFolders(beside: bed.path("broker.sock"))
            let dead = try folders.bind("dead", "broker.sock")
            close(dead.descriptor)
            close(try folders.bind("dead", "other.sock").descriptor)
            let living = try folders.bind("living", "broker.sock")
            defer { close(living.descriptor) }
            let files = FileManager.default
            try files.createDirectory(atPath: bed.path("sandboxes/other"), withIntermediateDirectories: true)
            try "".write(toFile: bed.path("sandboxes/other/broker.sock"), atomically: false, encoding: .utf8)
            try files.createSymbolicLink(atPath: bed.path("sandboxes/link"), withDestinationPath: bed.path("elsewhere"))
            folders.removeDead(["broker.sock", "other.sock"])
            #expect(Set(try files.contentsOfDirectory(atPath: bed.path("sandboxes"))) == ["living", "other", "link"])
            #expect(files.fileExists(atPath: folders.socketPath("living", "broker.sock")))
            #expect(!files.fileExists(atPath: bed.path("elsewhere")))
        }
    }

    @Test("a sandbox that locks its folder prevents no removal")
    func locked() async throws {
        try await withTestBed { bed in
            let folders = SandboxFolders(beside: bed.path("broker.sock"))
            let socket = try folders.bind("h", "broker.sock")
            let held = open(bed.path("sandboxes/h"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(flock(held, LOCK_EX) == 0)
            close(socket.descriptor)
            folders.removeDead(["broker.sock", "other.sock"])
            #expect(!FileManager.default.fileExists(atPath: bed.path("sandboxes")))
            close(held)
        }
    }

    @Test("a folder that others can write to is not used")
    func unsafe() async throws {
        try await withTestBed { bed in
            let folders = SandboxFolders(beside: bed.path("broker.sock"))
            let folder = bed.path("sandboxes/h")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            chmod(folder, 0o777)
            #expect(throws: SocketError.self) { try folders.bind("h", "broker.sock") }
        }
    }

    @Test("in system mode a user who knows the path can connect, and no one can list the paths")
    func shared() async throws {
        try await withTestBed { bed in
            let folders = SandboxFolders(bed.path("sandboxes"), isShared: true)
            let socket = try folders.bind("h", "broker.sock")
            defer { close(socket.descriptor) }
            let modes = try [("sandboxes", 0o711), ("sandboxes/h", 0o755), ("sandboxes/h/broker.sock", 0o666)].map {
                path, expected in
                var facts = stat()
                try #require(lstat(bed.path(path), &facts) == 0)
                return facts.st_mode & 0o7777 == mode_t(expected)
            }
            #expect(modes == [true, true, true])
            #expect(throws: SocketError.self) { try folders.bind("any", "broker.sock", acceptsAnyUID: true) }
        }
    }
}
