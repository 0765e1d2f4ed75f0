import BrokerCommandLine
import BrokerLink

extension BrokerLink.Account {
    /// One line of a list to choose from.
    var line: String { "\(username) at \(environment), id \(identifier)".clean }
}
