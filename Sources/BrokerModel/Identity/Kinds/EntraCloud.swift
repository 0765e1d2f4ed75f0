/// Microsoft's clouds: the hosts of Entra, and which of them are aliases.
package enum EntraCloud {
    /// The canonical name of a cloud comes first.
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

    /// The environment under which a host's records are filed; `nil` if the host is not one of Entra's.
    package static func environment(of host: String) -> String? { environmentsByHost[host.lowercased()] }

    /// The name that all aliases of a cloud share; other hosts are unchanged.
    package static func canonical(_ host: String) -> String { environment(of: host) ?? host.lowercased() }
}
