import CBrokerLinux

/// How many descriptors the process may have.
package enum DescriptorLimit {
    /// - Returns: what it may have from now on: fewer where the system does not allow as many as are wanted.
    package static func raise(to wanted: Int) -> Int { broker_allow_descriptors(wanted) }
}
