import BrokerModel
import BrokerVault

/// The costs of opening, looking up and committing. Figures are for people: nothing is asserted.
func measure(in path: String, count: Int) async throws {
    var vault = try await openVault(path)
    let pairs = Pairs(vault)
    try await pairs.write(1, to: 0)
    let partition = pairs.partition
    let bucket = pairs.owner(0).bucket
    guard let token = try vault.load(AccessTokenRecord.self, bucket: bucket, in: partition).first else { return }
    try report("withSecret, \(pairs.secret(0, 1).count) bytes", times: 200_000) {
        try vault.withSecret(of: token.sealed) { _ in }
    }
    try report("load of a bucket with one record", times: 20_000) {
        _ = try vault.load(AccessTokenRecord.self, bucket: bucket, in: partition)
    }
    try report("seal", times: 20_000) {
        _ = try vault.seal(token.record, secret: pairs.secret(0, 1), in: partition)
    }
    let clock = ContinuousClock()
    let commits = try await clock.measure {
        for value in 2...1_001 as ClosedRange<Int64> { try await pairs.write(value, to: 1) }
    }
    say("commit of two records: \(commits / 1_000)")

    for number in 0..<count / 10 {
        let puts = try (0..<10).map { item in
            var record = token.record
            record.owner.clientID = "many-\(number)"
            record.realm = "\(item)"
            return try vault.seal(record, secret: pairs.secret(0, 1), in: partition).sealed
        }
        try await vault.commit(VaultChange(in: partition, puts: puts))
    }
    let more = try await clock.measure {
        for value in 2...501 as ClosedRange<Int64> { try await pairs.write(value, to: 1) }
    }
    say("commit of two records among \(count): \(more / 500)")
    await vault.close()
    for _ in 0..<5 {
        let start = clock.now
        vault = try await openVault(path)
        let opened = clock.now
        _ = try vault.load(AppRecord.self, bucket: [], in: partition)
        _ = try vault.load(AccessTokenRecord.self, bucket: bucket, in: partition)
        say("opening a vault of \(count) records: \(opened - start), reading two buckets: \(clock.now - opened)")
        await vault.close()
    }
    vault = try await openVault(path)
    let listing = try clock.measure { _ = try vault.loadAll(AccessTokenRecord.self, in: partition) }
    say("reading all of them: \(listing)")
    await vault.close()
}

private func report(_ what: String, times: Int, _ body: () throws -> Void) throws {
    let duration = try ContinuousClock().measure { for _ in 0..<times { try body() } }
    say("\(what): \(duration / times)")
}
