import BrokerCommandLine
import BrokerLink
import BrokerValues

/// The device code on a terminal. Address and code stay on a screen of any size: the picture is shown only if it fits
/// completely, and the line that is redrawn each second never wraps.
package struct DeviceCodeScreen: Sendable {
    /// The headings above the address, the code and the picture.
    static let headings = (
        address: "Open this page on any device:", code: "and enter this code:", picture: "Or scan this with a phone:"
    )
    private static let indentation = "  "

    private let code: DeviceCodeOpening
    private let size: TerminalSize?

    /// - Parameter size: `nil` without a terminal.
    package init(_ code: DeviceCodeOpening, on size: TerminalSize?) {
        self.code = code
        self.size = size
    }

    var address: String { Self.indentation + code.verificationURI.cleanWhole }
    var userCode: String { Self.indentation + code.userCode.clean }

    /// `nil` if the page is on the provider's own host.
    package var warning: String? {
        code.otherHost.map {
            "That page is at \($0.clean), not at the provider's own host. Go there only if you expect that."
        }
    }

    /// The address as a QR code, including the user code if the provider gives such an address.
    ///
    /// - Returns: empty if it would not fit, or could not be read.
    package func picture(isUTF8: Bool, setsColours: Bool) -> [String] {
        guard let size, isUTF8, let symbol = QRCode(code.verificationURIComplete ?? code.verificationURI)
        else { return [] }
        // One row is reserved for the cursor's line below it.
        let room = size.rows - rows(of: textAround, in: size.columns) - 1
        let picture = TerminalQRCode.quietZones.lazy.map { TerminalQRCode(symbol, quietZone: $0) }
            .first { $0.width <= size.columns && $0.height <= room }
        return picture?.lines(setsColours: setsColours) ?? []
    }

    private var textAround: [String] {
        [Self.headings.address, address] + [warning].compactMap(\.self)
            + [Self.headings.code, userCode, Self.headings.picture]
    }

    private func rows(of lines: [String], in columns: Int) -> Int {
        lines.reduce(0) { $0 + max(1, ($1.columns + columns - 1) / columns) }
    }

    /// The time left for the code, in the longest form that leaves a column free: a full line would wrap.
    ///
    /// - Parameter columns: `nil` for no limit.
    package static func waiting(secondsLeft: Int64, columns: Int?) -> String {
        let left = max(0, secondsLeft)
        let seconds = left % 60
        let clock = "\(left / 60):\(seconds < 10 ? "0" : "")\(seconds) left"
        let forms = ["Waiting until you are done; \(clock) (Ctrl-C cancels).", "Waiting; \(clock) (Ctrl-C).", clock]
        guard let columns else { return forms[0] }
        return forms.first { $0.columns < columns } ?? ""
    }
}
