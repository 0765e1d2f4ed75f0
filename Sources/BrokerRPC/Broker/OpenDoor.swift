/// A socket for programs that do not speak this protocol.
package struct OpenDoor: MessageObject, Equatable {
    package var name = ""
    package var path = ""

    package init() {}
    package init(name: String, path: String) { (self.name, self.path) = (name, path) }

    package static let componentName: String? = "OpenDoor"
    package static let members: [Member<OpenDoor>] = [
        .required("name", \.name, "The name as in audit entries."),
        .required("path", \.path, "The path of its socket."),
    ]
}
