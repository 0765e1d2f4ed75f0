import BrokerModel

/// The redirect address of one waiting sign-in, or sign-out.
struct LoopbackEndpoint: RedirectEndpoint {
    let redirectURI: String
    private let opened: LoopbackPorts.Opened
    private let ports: LoopbackPorts

    init(_ address: RedirectAddress, _ opened: LoopbackPorts.Opened, of ports: LoopbackPorts) {
        redirectURI = address.uri(port: opened.number)
        self.opened = opened
        self.ports = ports
    }

    func close() async { await ports.close(opened) }
}
