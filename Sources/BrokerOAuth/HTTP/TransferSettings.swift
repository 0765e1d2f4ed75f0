/// The settings that all transfers of a client share.
struct TransferSettings: Sendable {
    let configuration: HTTPClientConfiguration
    let authorities: AuthoritiesInForce
}
