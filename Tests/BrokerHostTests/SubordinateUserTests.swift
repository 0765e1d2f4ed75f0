import BrokerHost
import BrokerTestSupport
import Foundation
import Testing

@Suite("Owners of subordinate uids")
struct SubordinateUserTests {
    private func users(
        _ bed: TestBed, _ subordinates: String, _ accounts: String = "alice:x:1000:1000::/home/alice:/bin/sh\n"
    ) throws -> SubordinateUsers {
        try subordinates.write(toFile: bed.path("subuid"), atomically: true, encoding: .utf8)
        try accounts.write(toFile: bed.path("passwd"), atomically: true, encoding: .utf8)
        return SubordinateUsers(subordinates: bed.path("subuid"), accounts: bed.path("passwd"))
    }

    @Test("a uid in a range belongs to its owner, by name or number, and any other to itself")
    func ranges() async throws {
        try await withTestBed { bed in
            let users = try users(bed, "1001:200000:65536\nalice:100000:65536\nalice:400000:10\n")
            for (uid, owner) in [
                (99_999, 99_999), (100_000, 1_000), (165_535, 1_000), (165_536, 165_536), (200_001, 1_001),
                (400_009, 1_000), (400_010, 400_010), (1_000, 1_000), (0, 0),
            ] as [(UInt32, UInt32)] {
                #expect(users.owner(of: uid) == owner, "\(uid)")
            }
        }
    }

    @Test("a name that only a directory service knows stands for one owner of all its ranges")
    func unknownName() async throws {
        try await withTestBed { bed in
            let users = try users(bed, "carol:100000:10\ncarol:300000:10\n")
            #expect(users.owner(of: 100_009) == 100_000 && users.owner(of: 300_000) == 100_000)
        }
    }

    @Test("a change of the file takes effect at once, and an unreadable file has no ranges")
    func changes() async throws {
        try await withTestBed { bed in
            let users = try users(bed, "alice:100000:10\n")
            #expect(users.owner(of: 100_000) == 1_000)
            try "alice:100001:10\n".write(toFile: bed.path("subuid"), atomically: true, encoding: .utf8)
            #expect(users.owner(of: 100_000) == 100_000 && users.owner(of: 100_001) == 1_000)
            try FileManager.default.removeItem(atPath: bed.path("subuid"))
            #expect(users.owner(of: 100_001) == 100_001)
        }
    }

    @Test(
        "invalid lines and an endless file are skipped",
        arguments: [
            "alice:100000\n", "alice:x:10\n", "alice:100000:0\n", ":::\n", "alice:100000:-1\n", "\u{0}\u{ff}\n",
            String(repeating: "alice:100000:10\n", count: 100_000),
        ])
    func odd(text: String) async throws {
        try await withTestBed { bed in
            let users = try users(bed, text)
            #expect(users.owner(of: 100_000) == 100_000)
        }
    }

    @Test("a range beyond the last uid ends with it")
    func beyond() async throws {
        try await withTestBed { bed in
            let users = try users(bed, "alice:4294967290:4294967295\n")
            #expect(users.owner(of: .max) == 1_000)
        }
    }
}
