import BrokerModel
import BrokerSystem
import Glibc
import Logging
import NIOCore

/// The open ports. One that an app registered is opened once, for all sign-ins that wait there, and closed with the last.
actor LoopbackPorts {
    private let eventLoop: any EventLoop
    private let limits: RedirectLimits
    private let logger: Logger
    private let visitors: NIOLoopBoundBox<RedirectVisitors?>
    private var registered: [LoopbackPort.Place: LoopbackPort] = [:]
    /// Opening a port must not meet it half closed.
    private let turns = Turns()

    init(on eventLoop: any EventLoop, limits: RedirectLimits, logger: Logger) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.logger = logger
        visitors = NIOLoopBoundBox.makeEmptyBox(valueType: RedirectVisitors.self, eventLoop: eventLoop)
    }

    /// The open ports of an address, each with a route to the waiting sign-in.
    struct Opened: Sendable {
        var ports: [(port: LoopbackPort, route: Int)] = []
        var number: UInt16 { ports.first?.port.number ?? 0 }
    }

    enum Outcome: Sendable {
        case opened(Opened)
        /// The port chosen by the kernel is taken on the other family.
        case taken
        case failed(RedirectError)
    }

    func open(
        _ address: RedirectAddress, for person: Partition, takesForm: Bool,
        _ answer: @escaping RedirectRoutes.Answer
    ) async -> Outcome {
        await turns.run { await self.bind(address, for: person, takesForm: takesForm, answer) }
    }

    /// Closing again has no effect.
    func close(_ opened: Opened) async {
        await turns.run { await self.leave(opened) }
    }

    private func bind(
        _ address: RedirectAddress, for person: Partition, takesForm: Bool,
        _ answer: @escaping RedirectRoutes.Answer
    ) async -> Outcome {
        var opened = Opened()
        for family in address.families {
            switch await port(at: .init(ip: family.ip, port: address.port ?? opened.number)) {
            case .bound(let port):
                let route = port.routes.add(address.path, for: person, takesForm: takesForm, answer)
                opened.ports.append((port, route))
            // Usually a machine without IPv6.
            case .failed(EADDRNOTAVAIL) where !family.isNeeded, .failed(EAFNOSUPPORT) where !family.isNeeded: continue
            case .failed(let code):
                await leave(opened)
                guard code == EADDRINUSE else {
                    let why = errnoText(code)
                    return .failed(
                        .cannotListen("The broker cannot listen at \(family.ip) for the redirect: \(why)."))
                }
                return address.port.map { .failed(.portInUse($0)) } ?? .taken
            }
        }
        logger.debug("waiting for a redirect", metadata: ["port": "\(opened.number)"])
        return .opened(opened)
    }

    private func port(at place: LoopbackPort.Place) async -> LoopbackPort.Outcome {
        if let open = registered[place] { return .bound(open) }
        let outcome = await LoopbackPort.bind(at: place, on: eventLoop, limits: limits, visitors: visitors)
        if case .bound(let port) = outcome { registered[.init(ip: place.ip, port: port.number)] = port }
        return outcome
    }

    private func leave(_ opened: Opened) async {
        for (port, route) in opened.ports {
            port.routes.remove(route)
            let place = LoopbackPort.Place(ip: port.place.ip, port: port.number)
            guard port.routes.isEmpty, registered[place] === port else { continue }
            registered[place] = nil
            await port.close()
            logger.debug("redirect port closed", metadata: ["port": "\(place.port)"])
        }
    }
}
