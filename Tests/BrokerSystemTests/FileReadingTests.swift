import BrokerSystem
import BrokerTestSupport
import Foundation
import Testing

@Suite("Reading of a file")
struct FileReadingTests {
    @Test("a file is read whole up to the limit, and one that is longer by a byte is refused")
    func limits() async throws {
        try await withTestBed { bed in
            let path = bed.path("file")
            // Around the size of the buffer, too.
            for size in [0, 1, 100, (16 << 10) - 1, 16 << 10, (16 << 10) + 1, 100_000] {
                let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
                try Data(bytes).write(to: URL(filePath: path))
                #expect(try readFile(at: path, atMost: size, isTrusted: false) == bytes)
                #expect(try readFile(at: path, atMost: .max, isTrusted: false) == bytes)
                guard size > 0 else { continue }
                #expect(throws: FileError.larger(size - 1)) {
                    try readFile(at: path, atMost: size - 1, isTrusted: false)
                }
            }
        }
    }

    @Test("a file without an end is read little further than the limit")
    func endless() async throws {
        let bytes = try await separately { () throws -> [UInt8]? in
            readFile(try opened("/dev/zero", O_RDONLY), atMost: 1_000)
        }
        let count = try #require(bytes?.count)
        #expect(count > 1_000 && count <= 1_000 + 16 << 10)
    }

    @Test("an input that grows as fast as it is read is left at the limit")
    func growing() async throws {
        try await withTestBed { bed in
            let pipe = bed.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            // The writer ends when nobody reads any more.
            let writer = try bed.start(Launch("sh", ["-c", "trap '' PIPE; yes 2>/dev/null > \(pipe); echo ended"]))
            let count = try await separately { () throws -> Int in
                let end = try opened(pipe, O_RDONLY)
                defer { close(end) }
                return readFile(end, atMost: 50_000)?.count ?? -1
            }
            #expect(count > 50_000 && count <= 50_000 + 16 << 10)
            try await writer.waitForText("ended")
        }
    }

    @Test("an input that comes in parts is read to its end")
    func parts() async throws {
        try await withTestBed { bed in
            let pipe = bed.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            let writer = try bed.start(
                Launch("sh", ["-c", "exec > \(pipe); while read word; do printf '%s' \"$word\"; done"], hasInput: true))
            let reading = Task {
                try await separately { () throws -> [UInt8]? in readFile(try opened(pipe, O_RDONLY), atMost: 100) }
            }
            for word in ["one\n", "two\n", "three\n"] { try writer.write(word) }
            writer.closeInput()
            #expect(try await reading.value == Array("onetwothree".utf8))
        }
    }

    @Test("a descriptor that cannot be read has the system's reason")
    func unreadableDescriptor() async throws {
        try await withTestBed { bed in
            let path = bed.path("file")
            let (bytes, reason) = try await separately { () throws -> ([UInt8]?, Int32) in
                let bytes = readFile(try opened(path, O_WRONLY | O_CREAT), atMost: 100)
                return (bytes, errno)
            }
            #expect(bytes == nil && reason == EBADF)
        }
    }

    @Test("a pipe, a socket, a device and a folder are refused without waiting, as they are no regular files")
    func otherKinds() async throws {
        try await withTestBed { bed in
            let pipe = bed.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            for path in [pipe, "/dev/zero", bed.directory.path] {
                #expect(throws: FileError.notRegular, "\(path)") {
                    try readFile(at: path, atMost: 100, isTrusted: false)
                }
            }
            let socket = bed.path("socket")
            let broker = try ScriptedBroker(path: socket) { _ in }
            #expect(throws: FileError.unreadable(ENXIO)) { try readFile(at: socket, atMost: 100, isTrusted: false) }
            broker.stop()
        }
    }

    @Test("a link is followed, one to a pipe is refused, and one to nothing or itself is unreadable")
    func links() async throws {
        try await withTestBed { bed in
            let (link, file, pipe) = (bed.path("link"), bed.path("file"), bed.path("pipe"))
            try "text".write(toFile: file, atomically: false, encoding: .utf8)
            try #require(mkfifo(pipe, 0o600) == 0)
            try #require(symlink(file, link) == 0)
            #expect(try readFile(at: link, atMost: 4, isTrusted: false) == Array("text".utf8))
            let failures: [(String, FileError)] = [
                (pipe, .notRegular), (bed.path("nothing"), .unreadable(ENOENT)), (link, .unreadable(ELOOP)),
            ]
            for (target, failure) in failures {
                try #require(unlink(link) == 0 && symlink(target, link) == 0)
                #expect(throws: failure) { try readFile(at: link, atMost: 4, isTrusted: false) }
            }
        }
    }

    @Test("a missing file, and one below a file, are absent, which an unreadable one is not")
    func absence() async throws {
        try await withTestBed { bed in
            let file = bed.path("file")
            try "".write(toFile: file, atomically: false, encoding: .utf8)
            for path in [bed.path("missing"), file + "/below", bed.path("no/folder")] {
                let error = #expect(throws: FileError.self) { try readFile(at: path, atMost: 4, isTrusted: false) }
                #expect(error?.isAbsence == true, "\(path)")
            }
            #expect(!FileError.unreadable(EACCES).isAbsence && !FileError.notRegular.isAbsence)
        }
    }

    @Test("each failure continues a sentence that begins with the file's name")
    func texts() {
        #expect(FileError.unreadable(EACCES).text == "cannot be read: Permission denied")
        #expect(FileError.notRegular.text == "is not a regular file")
        #expect(FileError.foreign.text == "belongs to another user; make it yours or root's")
        #expect(FileError.writableByOthers.text == "can be written by others; run chmod go-w on it")
        #expect(FileError.larger(4 << 20).text == "is larger than 4 MiB")
    }
}
