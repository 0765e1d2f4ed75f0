/// The owner of records: the user's uid. Every record belongs to one partition, in user mode too.
package struct Partition: Sendable, Hashable {
    package let uid: UInt32
    package init(uid: UInt32) { self.uid = uid }
}
