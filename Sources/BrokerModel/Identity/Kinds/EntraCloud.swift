/// Microsoft's clouds: which hosts are Entra's, and which of them are one and the same.
package enum EntraCloud {
    /// The name for all aliases of a cloud first.
    private static let clouds: [[String]] = [
        ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"],
        ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
        ["login.microsoftonline.us", "login.usgovcloudapi.net"],
        ["login-us.microsoftonline.com"],
        ["login.microsoftonline.de"],
        ["login.sovcloud-identity.fr"],
        ["login.sovcloud-identity.de"],
        ["login.sovcloud-identity.sg"],
    ]

    private static let environmentsByHost: [String: String] = {
        var table: [String: String] = [:]
        for cloud in clouds { for host in cloud { table[host] = cloud.first } }
        return table
    }()

    /// The name of each cloud.
    package static let environments = Set(clouds.compactMap(\.first))

    /// The environment that a host's records are filed under; nil when the host is none of Entra's.
    package static func environment(of host: String) -> String? { environmentsByHost[host.lowercased()] }

    /// The name that all aliases of a cloud share; any other host is its own.
    package static func canonical(_ host: String) -> String { environment(of: host) ?? host.lowercased() }
}
