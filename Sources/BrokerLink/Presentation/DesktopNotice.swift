import BrokerSystem
import BrokerValues
import Glibc
import Synchronization

/// A notification for a user without a terminal.
package enum DesktopNotice {
    /// Shows it with `notify-send`, if installed. Returns at once.
    package static func show(_ title: String, _ text: String) {
        ChildProcess.start(command([], title, text))?.reapLater()
    }

    /// Shows it with buttons, until one is pressed or the person or the desktop closes it. It is closed if the task is
    /// cancelled; a button that was pressed before counts.
    ///
    /// - Parameter key: identifies each button: another program's notification that gets the same number has none of these.
    package static func ask(_ title: String, _ text: String, _ buttons: [String], key: String) async -> Answer {
        let name = key.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let actions = buttons.enumerated().map { "--action=\(name)-\($0.offset)=\($0.element)" }
        let words = command(["--wait", "--expire-time=0"] + actions, title, text)
        let notice = OpenNotice()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let status = DetachedThread.start {
                    let report = ChildProcess.report(of: words, running: notice.isShown(by:))
                    let answer = Answer(report)
                    // A button may have been pressed before.
                    if case .pressed = answer { return continuation.resume(returning: answer) }
                    continuation.resume(returning: notice.isClosed ? .closed : answer)
                }
                if status != 0 { continuation.resume(returning: .notShown) }
            }
        } onCancel: {
            notice.close()
        }
    }

    /// The outcome of a notification with buttons.
    package enum Answer: Sendable, Equatable {
        /// The index of the button.
        case pressed(Int)
        /// It was closed without a button.
        case closed
        /// There is no `notify-send`.
        case noProgram
        /// It could not be shown this time: right after a login the notification service may not run yet.
        case notShown

        /// - Parameter report: the result of `notify-send`, which ends with 0 if it was shown; `nil` if it is not installed.
        fileprivate init(_ report: (status: Int32, text: String)?) {
            guard let report else { self = .noProgram; return }
            let button = report.text.split(separator: "\n").last?.split(separator: "-").last
            let chosen = button.flatMap { Int($0) }
            self = chosen.map { .pressed($0) } ?? (report.status == 0 ? .closed : .notShown)
        }
    }

    private static func command(_ options: [String], _ title: String, _ text: String) -> [String] {
        // A name that every icon theme has (Icon Naming Specification).
        ["notify-send", "--app-name=Token broker", "--icon=dialog-password"] + options
            + ["--", HandOver.noticeTitle(title), HandOver.noticeText(text)]
    }
}

/// A `notify-send` whose notification another thread than the waiting one may close.
private final class OpenNotice: Sendable {
    private struct State {
        var child: ChildProcess?
        var isClosed = false
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func isShown(by child: ChildProcess?) {
        let isClosed = state.withLock { state in
            state.child = child
            return state.isClosed
        }
        if isClosed, child != nil { closeNotification() }
    }

    func close() {
        let isShown = state.withLock { state in
            state.isClosed = true
            return state.child != nil
        }
        if isShown { closeNotification() }
    }

    /// It shows the notification first, and handles SIGINT after that. If it ends in between, the notification remains, with
    /// buttons that do nothing.
    private func closeNotification() {
        let status = DetachedThread.start { [self] in
            var looks = 0
            while looks < Self.maxPolls, isNotReady() {
                usleep(Self.pause)
                looks += 1
            }
            state.withLock { $0.child?.interrupt() }
        }
        if status != 0 { state.withLock { $0.child?.interrupt() } }
    }

    private func isNotReady() -> Bool { state.withLock { $0.child.map { !$0.handlesInterrupt() } ?? false } }

    /// Five seconds in total: the time that a desktop may take to show it.
    private static let maxPolls = 500
    private static let pause: UInt32 = 10_000
}
