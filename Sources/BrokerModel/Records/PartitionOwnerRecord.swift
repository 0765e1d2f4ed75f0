/// The owner of a partition: a uid alone may be reassigned to another account.
package struct PartitionOwnerRecord: VaultRecord, Equatable {
    package static let kind = RecordKind.partitionOwner
    /// The account's name when the partition was made; `nil` if the uid had none.
    package var account: String?

    package init(account: String?) { self.account = account }

    package var bucket: [String] { [] }
    package var item: [String] { [] }
}
