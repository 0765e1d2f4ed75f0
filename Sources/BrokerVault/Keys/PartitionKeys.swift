import BrokerModel

/// What one partition's data key is used for, under a subkey each.
struct PartitionKeys: Sendable {
    let sealing: Secret
    let naming: Secret

    init(dataKey: Secret) {
        sealing = dataKey.subkey(1, "tb-vault")
        naming = dataKey.subkey(2, "tb-vault")
    }
}
