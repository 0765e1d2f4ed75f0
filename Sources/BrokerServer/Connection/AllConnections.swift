/// The counters over all connections, whatever their front.
struct AllConnections: Sendable {
    let callers = ConnectedCallers()
    let requests: UserRequests
    let watches = WatchPlaces()
}
