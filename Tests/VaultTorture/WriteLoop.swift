import BrokerVault

/// Announces each change before it is made and confirms it when it is durable, until the process is killed.
func writeLoop(in path: String, from first: Int64) async throws {
    let vault = try await openVault(path)
    let pairs = Pairs(vault)
    var value = first
    while true {
        let slot = Int.random(in: 0..<Pairs.slots)
        switch Int.random(in: 0..<20) {
        case 0:
            say("begin \(slot) none")
            try await pairs.remove(slot)
            say("done \(slot) none")
        case 1:
            try await vault.checkpoint()
        default:
            say("begin \(slot) \(value)")
            try await pairs.write(value, to: slot)
            say("done \(slot) \(value)")
            value += 1
        }
    }
}
