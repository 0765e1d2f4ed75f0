import BrokerSystem
import BrokerTestSupport
import Foundation
import Testing

@Suite("Files that only their user and root may write")
struct TrustedFileTests {
    private static let content = Array("text".utf8)

    private func makeFile(in bed: TestBed) throws -> String {
        let path = bed.path("file")
        try Data(Self.content).write(to: URL(filePath: path))
        return path
    }

    private func read(_ path: String) throws(FileError) -> [UInt8] {
        try readFile(at: path, atMost: 100, isTrusted: true)
    }

    @Test("a file is read if others may only read it")
    func readable() async throws {
        try await withTestBed { bed in
            let path = try makeFile(in: bed)
            for mode: mode_t in [0o600, 0o644, 0o444, 0o755] {
                try #require(chmod(path, mode) == 0)
                #expect(try read(path) == Self.content, "\(String(mode, radix: 8))")
            }
        }
    }

    @Test("a file that others may write is refused, unless it need not be trusted")
    func writable() async throws {
        try await withTestBed { bed in
            let path = try makeFile(in: bed)
            for mode: mode_t in [0o666, 0o602, 0o622] {
                try #require(chmod(path, mode) == 0)
                #expect(throws: FileError.writableByOthers, "\(String(mode, radix: 8))") { try read(path) }
                #expect(try readFile(at: path, atMost: 100, isTrusted: false) == Self.content)
            }
        }
    }

    @Test("a file behind a link is judged itself, not the link")
    func link() async throws {
        try await withTestBed { bed in
            let (path, link) = (try makeFile(in: bed), bed.path("link"))
            try #require(chmod(path, 0o666) == 0 && symlink(path, link) == 0)
            #expect(throws: FileError.writableByOthers) { try read(link) }
        }
    }

    @Test("a file may be written by the user's own group, and by no other", .enabled(if: Prerequisite.root.shouldRun))
    func groups() async throws {
        try Prerequisite.root.require()
        try await withTestBed { bed in
            let path = try makeFile(in: bed)
            try #require(chmod(path, 0o660) == 0)
            for group: gid_t in [0, 12_345, 65_534] {
                try #require(chown(path, 0, group) == 0)
                if UserPrivateGroup.isOwn(group) {
                    #expect(try read(path) == Self.content)
                } else {
                    #expect(throws: FileError.writableByOthers, "\(group)") { try read(path) }
                }
            }
            #expect(!UserPrivateGroup.isOwn(12_345), "no such group")
        }
    }

    @Test("a file of another user than this one and root is refused", .enabled(if: Prerequisite.root.shouldRun))
    func foreign() async throws {
        try Prerequisite.root.require()
        try await withTestBed { bed in
            let path = try makeFile(in: bed)
            try #require(chmod(path, 0o600) == 0 && chown(path, 12_345, 12_345) == 0)
            #expect(throws: FileError.foreign) { try read(path) }
            #expect(try readFile(at: path, atMost: 100, isTrusted: false) == Self.content)
        }
    }

    @Test("a file of root is read by every user")
    func ofRoot() throws {
        #expect(throws: Never.self) { try readFile(at: "/etc/passwd", atMost: 1 << 20, isTrusted: true) }
    }
}
