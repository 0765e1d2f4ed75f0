/// Thrown for an invalid fault in a flag: `token:status,status=503,retryAfter=2,times=3`.
package struct FaultOrderError: Error, CustomStringConvertible {
    package let description: String
}

extension Fault {
    package init(order: String) throws(FaultOrderError) {
        let parts = order.split(separator: ",").map(String.init)
        let head = (parts.first ?? "").split(separator: ":").map(String.init)
        guard head.count == 2, let kind = Kind(rawValue: head[1]) else {
            throw FaultOrderError(
                description: "A fault is ENDPOINT:KIND[,FIELD=VALUE…]; kinds: \(Kind.allCases.map(\.rawValue)).")
        }
        guard head[0] == "*" || Endpoint(rawValue: head[0]) != nil else {
            throw FaultOrderError(
                description: "No endpoint \(head[0]); there are * \(Endpoint.allCases.map(\.rawValue)).")
        }
        self.init(Endpoint(rawValue: head[0]), kind)
        for part in parts.dropFirst() {
            let field = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard field.count == 2, set(field[0], to: field[1]) else {
                throw FaultOrderError(description: "\(part) is no field of a fault, or has a wrong value.")
            }
        }
    }

    private mutating func set(_ field: String, to value: String) -> Bool {
        switch field {
        case "status": status = Int(value)
        case "retryAfter": retryAfter = Int(value)
        case "delay": delay = Double(value)
        case "times":
            guard let number = Int(value), number >= 0 else { return false }
            times = number
        case "location": location = value
        case "contentType": contentType = value
        case "body": body = value
        case "error": error = value
        case "number": number = Int(value)
        case "subError": subError = value
        case "tenant": tenant = value
        default: return false
        }
        return field != "status" || status != nil
    }
}
