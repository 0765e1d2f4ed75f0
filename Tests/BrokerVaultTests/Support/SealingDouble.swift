import BrokerTestSupport
import BrokerVault
import Foundation
import Synchronization

/// Replaces systemd's io.systemd.Credentials where it has to fail. `SystemdTests` use the real one.
final class SealingDouble: Sendable {
    enum Behaviour: Sendable {
        case seals
        case refuses
        case hangsUp
        case says(String)
    }

    let path: String
    private let behaviour = Mutex(Behaviour.seals)
    private let seen = Mutex<[String]>([])

    var service: CredentialService { CredentialService(at: path) }
    /// Methods and names, in order.
    var calls: [String] { seen.withLock { $0 } }

    func behave(_ new: Behaviour) { behaviour.withLock { $0 = new } }

    init(in bed: TestBed) throws {
        let path = bed.path(bed.unique("credentials.sock"))
        self.path = path
        let descriptor = try ServiceSocket.listen(at: path)
        bed.atEnd {
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                serve(connection)
                close(connection)
            }
        }
    }

    private func serve(_ connection: Int32) {
        var request: [UInt8] = []
        var byte: UInt8 = 0
        while read(connection, &byte, 1) == 1, byte != 0 { request.append(byte) }
        guard let answer = answer(Data(request)) else { return }
        let bytes = Array(answer.utf8) + [0]
        _ = bytes.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    }

    private func answer(_ request: Data) -> String? {
        guard let call = try? JSONSerialization.jsonObject(with: request) as? [String: Any],
            let method = call["method"] as? String, let parameters = call["parameters"] as? [String: String],
            parameters["scope"] == "user", let name = parameters["name"]
        else { return #"{"error":"org.varlink.service.InvalidParameter","parameters":{}}"# }
        seen.withLock { $0.append("\(method) \(name)") }
        switch behaviour.withLock({ $0 }) {
        case .hangsUp: return nil
        case .says(let text): return text
        case .refuses: return #"{"error":"io.systemd.Credentials.BadFormat","parameters":{}}"#
        case .seals:
            if let data = parameters["data"] { return #"{"parameters":{"blob":"sealed \#(name) \#(data)"}}"# }
            let parts = (parameters["blob"] ?? "").split(separator: " ")
            guard parts.count == 3, parts[1] == name else {
                return #"{"error":"io.systemd.Credentials.NameMismatch","parameters":{}}"#
            }
            return #"{"parameters":{"data":"\#(parts[2])"}}"#
        }
    }
}
