/// A word to somebody who started no terminal.
package enum DesktopNotice {
    /// Shows it with `notify-send`, where there is one. Returns at once.
    package static func show(_ title: String, _ text: String) {
        // Notification servers read some markup in the text.
        let plain = text.filter { $0 != "<" && $0 != ">" && $0 != "&" }
        ChildProcess.start(["notify-send", "--app-name=brokerctl", "--", title, plain])?.reapLater()
    }
}
