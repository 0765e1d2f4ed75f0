import BrokerSystem
import BrokerTestSupport
import Foundation
import Testing

@Suite("Names in a folder")
struct FolderNamesTests {
    @Test("a folder's entries of each kind are listed, hidden ones too, without itself and its parent")
    func names() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("folder")
            #expect(try FolderNames(of: folder).names.isEmpty)
            for name in ["file", ".hidden", "..two", "ä 😀\n", "-f"] {
                try Data().write(to: URL(filePath: folder + "/" + name))
            }
            try #require(mkdir(folder + "/inner", 0o700) == 0 && symlink("/nowhere", folder + "/link") == 0)
            let found = try FolderNames(of: folder)
            #expect(Set(found.names) == ["file", ".hidden", "..two", "ä 😀\n", "-f", "inner", "link"])
            #expect(found.repaired.isEmpty)
        }
    }

    @Test("a name that is not UTF-8 is repaired for display, and does not hide the others")
    func repaired() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("folder")
            try Data().write(to: URL(filePath: folder + "/file"))
            let names: [[UInt8]] = [[0x61, 0xFF], [0xC3]]
            let paths = names.map { name in (Array((folder + "/").utf8) + name + [0]).map { CChar(bitPattern: $0) } }
            for path in paths { try #require(mkdir(path, 0o700) == 0) }
            let found = try FolderNames(of: folder)
            // Foundation might not remove them.
            for path in paths { rmdir(path) }
            #expect(found.names == ["file"])
            #expect(Set(found.repaired) == ["a\u{FFFD}", "\u{FFFD}"])
        }
    }

    @Test("no more names are read than the limit allows")
    func limit() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("folder")
            for name in 1...20 { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
            for (limit, count) in [(0, 0), (1, 1), (19, 19), (20, 20), (21, 20)] {
                #expect(try FolderNames(of: folder, atMost: limit).names.count == count)
            }
        }
    }

    @Test("a missing folder and a file are errors with the system's reason, and a link is followed")
    func failures() async throws {
        try await withTestBed { bed in
            let (file, link) = (bed.path("file"), bed.path("link"))
            try Data().write(to: URL(filePath: file))
            #expect(throws: FileError.unreadable(ENOENT)) { try FolderNames(of: bed.path("missing")) }
            #expect(throws: FileError.unreadable(ENOTDIR)) { try FolderNames(of: file) }
            try #require(symlink(bed.directory.path, link) == 0)
            #expect(try FolderNames(of: link).names.contains("file"))
        }
    }
}

@Suite("New folders")
struct NewFolderTests {
    @Test("a folder is made with its parents, accessible to their user alone, and existing ones stay as they are")
    func made() async throws {
        try await withTestBed { bed in
            let base = try bed.makeDirectory("base")
            try #require(chmod(base, 0o755) == 0)
            #expect(makeFolders(base + "/a/b/c"))
            for name in ["/a", "/a/b", "/a/b/c"] { #expect(try facts(base + name).st_mode & 0o7777 == 0o700) }
            #expect(makeFolders(base + "/a/b/c") && makeFolders(base))
            #expect(try facts(base).st_mode & 0o7777 == 0o755)
        }
    }

    @Test("a file in the way, and a link to nothing, are failures with a reason")
    func failures() async throws {
        try await withTestBed { bed in
            let (file, link) = (bed.path("file"), bed.path("link"))
            try Data().write(to: URL(filePath: file))
            try #require(symlink(bed.path("nothing"), link) == 0)
            let cases = [(file + "/a", ENOTDIR), (file + "/a/b", ENOTDIR), (link, ENOENT), ("", ENOENT)]
            for (path, reason) in cases {
                let (isMade, code) = (makeFolders(path), errno)
                #expect(!isMade && code == reason, "\(path)")
            }
            #expect(access(bed.path("nothing"), F_OK) != 0)
        }
    }

    @Test("a folder behind a link exists")
    func links() async throws {
        try await withTestBed { bed in
            let link = bed.path("link")
            try #require(symlink(try bed.makeDirectory("real"), link) == 0)
            #expect(makeFolders(link) && makeFolders(link + "/inner"))
            #expect(access(bed.path("real/inner"), F_OK) == 0)
        }
    }

    @Test(
        "another owner of a folder, or of the folder in which it would be made, is named to root",
        .enabled(if: Prerequisite.root.shouldRun))
    func owners() async throws {
        try Prerequisite.root.require()
        try await withTestBed { bed in
            let (own, foreign) = (try bed.makeDirectory("own"), try bed.makeDirectory("foreign"))
            try #require(chown(foreign, 12_345, 12_345) == 0)
            #expect(otherOwner(of: own) == nil && otherOwner(of: own + "/not/yet") == nil)
            #expect(otherOwner(of: foreign) == 12_345 && otherOwner(of: foreign + "/not/yet") == 12_345)
            #expect(otherOwner(of: "/no/such/folder") == nil)
            // A relative path has no parent to look at.
            #expect(otherOwner(of: "no-such-folder") == nil)
        }
    }

    private func facts(_ path: String) throws -> stat {
        var facts = stat()
        try #require(lstat(path, &facts) == 0)
        return facts
    }
}
