import BrokerModel
import BrokerVault
import Glibc

/// A full file system: existing records stay, and writing continues when there is space again.
func fillFileSystem(in path: String) async throws {
    let ballast = path + "/ballast"
    let state = path + "/state"

    try fill(ballast)
    try await expectFull("making a vault") { _ = try await openVault(state) }
    try empty(ballast)

    var vault = try await openVault(state)
    try await Pairs(vault).write(1, to: 0)
    try await vault.checkpoint()
    try fill(ballast)
    let last = try await writeUntilFull(vault)
    let newcomer = Pairs(vault, partition: Partition(uid: 1001))
    try await expectFull("the first write of another uid") { try await newcomer.write(1, to: 0) }

    try empty(ballast)
    try await Pairs(vault).write(last + 1, to: 0)
    try await newcomer.write(2, to: 0)
    try fill(ballast)
    // Closing tries to move the log into the file, for which there is no space.
    await vault.close()

    try empty(ballast)
    vault = try await openVault(state)
    try Pairs(vault).expect(last + 1, in: 0)
    try Pairs(vault, partition: Partition(uid: 1001)).expect(2, in: 0)
    try await Pairs(vault).write(last + 2, to: 0)
    try Pairs(vault).expect(last + 2, in: 0)
    await vault.close()
}

/// A file size limit (EFBIG; a quota is reported in the same way): as with a full file system.
func reachSizeLimit(in path: String) async throws {
    signal(SIGXFSZ, SIG_IGN)
    let vault = try await openVault(path)
    try await Pairs(vault).write(1, to: 0)
    try limitFiles(to: 256 * 1024)
    let last = try await writeUntilFull(vault)
    try limitFiles(to: nil)
    try await Pairs(vault).write(last + 1, to: 0)
    try Pairs(vault).expect(last + 1, in: 0)
    await vault.close()
    try Pairs(try await openVault(path)).expect(last + 1, in: 0)
}

/// - Returns: the last written value; it has been read back since.
private func writeUntilFull(_ vault: Vault) async throws -> Int64 {
    let pairs = Pairs(vault)
    for value in 2...1_000 as ClosedRange<Int64> {
        do {
            try await pairs.write(value, to: 0)
        } catch VaultError.full {
            try pairs.expect(value - 1, in: 0)
            try await expectFull("trying again") { try await pairs.write(value, to: 0) }
            try pairs.expect(value - 1, in: 0)
            return value - 1
        }
    }
    throw Failure("a thousand writes, and still not full")
}

private func expectFull(_ what: String, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch VaultError.full {
        return
    }
    throw Failure("\(what) succeeded on a full disk")
}

private func fill(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure("no ballast: \(errno)") }
    defer { close(descriptor) }
    var count = 1 << 16
    let bytes = [UInt8](repeating: 7, count: count)
    while count > 0 {
        if write(descriptor, bytes, count) > 0 { continue }
        guard errno == ENOSPC else { throw Failure("ballast: \(errno)") }
        count /= 2
    }
}

private func empty(_ path: String) throws {
    guard truncate(path, 0) == 0 else { throw Failure("the ballast stays: \(errno)") }
}

private func limitFiles(to count: UInt?) throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit)
    limit.rlim_cur = count ?? limit.rlim_max
    guard setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0 else {
        throw Failure("no limit: \(errno)")
    }
}
