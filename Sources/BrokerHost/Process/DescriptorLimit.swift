import CBrokerLinux

/// The limit of the process's descriptors.
package enum DescriptorLimit {
    /// - Returns: the limit from now on: lower if the system does not allow as many as wanted.
    package static func raise(to wanted: Int) -> Int { broker_allow_descriptors(wanted) }
}
