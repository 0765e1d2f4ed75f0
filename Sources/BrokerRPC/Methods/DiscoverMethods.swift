import BrokerValues

package enum DiscoverMethods: PersonMethod {
    package static let name = "rpc.discover"
    package static let summary = "This document."
    package static let description = "The OpenRPC description of every method that this broker has."
    package static let isIdempotent = true
    package static let worksLocked = true
    package static let errors: [ErrorKind] = []
    package static let resultName = "document"
    package typealias Params = Empty
    package typealias Result = JSONValue
}
