import BrokerModel
import BrokerValues

/// Values that many tests need and whose details matter to none.
package enum Sample {
    package static let now: NumericDate = 1_800_000_000
    package static let partition = Partition(uid: 1000)

    // Its texts are written in tests: a wrong one fails every time.
    package static func authority(_ url: String = "https://id.example.org/realm") -> Authority {
        guard let authority = try? Authority(parsing: url, allowHTTPLoopback: true) else {
            fatalError("the test's own authority is none: \(url)")
        }
        return authority
    }

    package static func app(
        _ name: String = "mail", client: String = "client-1", at authority: Authority = authority(),
        group: String? = nil
    ) -> AppRegistration {
        AppRegistration(name: name, clientID: client, authority: authority, group: group)
    }
}
