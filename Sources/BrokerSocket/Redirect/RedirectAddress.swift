import BrokerModel
import BrokerValues

/// Where to listen for a ``RedirectTarget``, and the URI for the provider. Pure.
struct RedirectAddress: Equatable {
    struct Family: Equatable {
        var ip: String
        /// Whether the browser can use no other.
        var isNeeded: Bool
    }

    /// In URL syntax, so with brackets for IPv6.
    let host: String
    /// `nil`: chosen by the kernel.
    let port: UInt16?
    let path: String
    let families: [Family]

    init(_ target: RedirectTarget) throws(RedirectError) {
        switch target {
        case .anyPort(let host, let path): try self.init(host: host, port: nil, path: path)
        case .fixed(let host, let port, let path): try self.init(host: host, port: port, path: path)
        }
    }

    private init(host: String, port: UInt16?, path: String) throws(RedirectError) {
        guard WebURL("http://localhost\(path)")?.path == path, path.hasPrefix("/") else {
            throw .cannotListen("The redirect's path \(path) is not the path of a URL.")
        }
        self.port = port
        self.path = path
        switch host.lowercased() {
        case "127.0.0.1":
            self.host = "127.0.0.1"
            families =
                [Family(ip: "127.0.0.1", isNeeded: true)] + (port == nil ? [Family(ip: "::1", isNeeded: false)] : [])
        case "[::1]":
            self.host = "[::1]"
            families =
                [Family(ip: "::1", isNeeded: true)] + (port == nil ? [Family(ip: "127.0.0.1", isNeeded: false)] : [])
        case let name where name == "localhost" || name.hasSuffix(".localhost") && WebURL.isLoopback(name):
            // Browsers try either. Another process with the port on one of the two would get the code.
            self.host = name
            families = [Family(ip: "127.0.0.1", isNeeded: true), Family(ip: "::1", isNeeded: false)]
        default:
            throw .cannotListen(
                "A redirect can be received at 127.0.0.1, [::1], localhost and *.localhost only, not at \(host).")
        }
    }

    func uri(port: UInt16) -> String { "http://\(host):\(port)\(path)" }
}
