import BrokerModel
import BrokerValues

/// The facts that a caller was judged by, for people who do not know the system's words. The name by which `brokerctl grants list`
/// shows one is the entry's title.
enum FactWords {
    static func entry(_ fact: (name: SafeText, value: SafeText)) -> HTML {
        """
        <dt title="\(text: fact.name)">\(name(fact.name.text) ?? "\(text: fact.name)")</dt>\
        <dd><bdi>\(value(fact.value.text) ?? "\(name: fact.value)")</bdi></dd>

        """
    }

    /// Nil for one that this page does not know.
    private static func name(_ fact: String) -> HTML? {
        switch fact {
        case "adminProof": "Proof that it may administer"
        case "asksBy": "Asks by way of"
        case "cgroup": "Group of processes that it is in"
        case "connectedBy": "Connected by"
        case "executable": "Program file"
        case "executableOwner": "Who can change that file"
        case "flatpak": "Flatpak app"
        case "handedOnWith": "Shares its connection with"
        case "instance": "Which run of the sandbox"
        case "label": "The system’s name for its limits"
        case "networkNamespace": "Network that it sees"
        case "pid": "Process number"
        case "pidNamespace": "Processes that it sees"
        case "pinned": "Certain to be the same process still"
        case "rootMount": "Files that it sees"
        case "socketOf": "Came by the socket of"
        case "startedBy": "Started by"
        case "unit": "Service"
        case "userNamespace": "Users that it sees"
        default: nil
        }
    }

    /// How its view of the machine compares with the broker's.
    private static func value(_ text: String) -> HTML? {
        switch text {
        case "same": "the same as yours"
        case "other": "others than yours"
        case "unreadable": "nobody can tell"
        default: nil
        }
    }
}
