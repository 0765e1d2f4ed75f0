/// The version of this release: brokerd and brokerctl are built and shipped together.
package enum BrokerVersion {
    package static let text = "0.1.0"
}
