import BrokerRPC

/// Warnings about the vault's records; empty if there are none.
enum VaultHealth {
    static func sentences(_ vault: GetBrokerStatus.Vault) -> [String] {
        [rolledBack(vault), setAside(vault)].compactMap(\.self)
    }

    static func rolledBack(_ vault: GetBrokerStatus.Vault) -> String? {
        vault.rolledBack ? "An earlier vault was put in place of the last one; sandboxes get no tokens." : nil
    }

    static func setAside(_ vault: GetBrokerStatus.Vault) -> String? {
        let counts = [
            vault.quarantined > 0 ? "\(records(vault.quarantined)) damaged or out of date and set aside" : nil,
            vault.missing > 0 ? "\(records(vault.missing)) gone" : nil,
        ].compactMap(\.self)
        return counts.isEmpty ? nil : counts.joined(separator: ", ") + "."
    }

    private static func records(_ count: Int64) -> String { count == 1 ? "1 record is" : "\(count) records are" }
}
