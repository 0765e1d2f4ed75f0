import BrokerModel
import BrokerValues

/// The header as named values in the store.
extension VaultHeader {
    enum Name {
        static let vaultID = "vault-id"
        static let keySource = "key-source"
        static let keyParameters = "key-parameters"
        static let keyCheck = "key-check"
        static let wrappedOn = "key-wrapped-on"
        /// Followed by the name of the added source.
        static let added = "added-key:"
    }

    var stored: [String: [UInt8]] {
        var values = [
            Name.vaultID: vaultID, Name.keySource: Array(keySource.utf8), Name.keyParameters: keyParameters,
            Name.keyCheck: keyCheck,
        ]
        if let wrappedOn { values[Name.wrappedOn] = Array(String(wrappedOn).utf8) }
        for one in added { values[Name.added + one.source] = one.stored }
        return values
    }

    /// Replaces the stored header. Values that it does not have stay, except for added sources.
    func write(to rows: any RowTransaction) throws(VaultError) {
        let values = stored
        for name in try rows.header().keys where name.hasPrefix(Name.added) && values[name] == nil {
            try rows.putHeader(nil, named: name)
        }
        for (name, value) in values { try rows.putHeader(value, named: name) }
    }

    /// The header of an existing vault.
    init(of store: any RowStore) throws(VaultError) {
        let (format, values) = try store.examine()
        guard let vaultID = values[Name.vaultID], vaultID.count == 16, let source = values[Name.keySource],
            let parameters = values[Name.keyParameters], let check = values[Name.keyCheck]
        else { throw .damaged("The header of \(store.path) is damaged. Restore it from a backup, or move it away.") }
        self.init(
            format: format, vaultID: vaultID, keySource: String(decoding: source, as: UTF8.self),
            keyParameters: parameters, keyCheck: check,
            wrappedOn: values[Name.wrappedOn].flatMap { NumericDate(String(decoding: $0, as: UTF8.self)) },
            added: values.sorted { $0.key < $1.key }.compactMap { name, value in
                guard name.hasPrefix(Name.added) else { return nil }
                return AddedSource(String(name.dropFirst(Name.added.count)), stored: value)
            })
    }
}
