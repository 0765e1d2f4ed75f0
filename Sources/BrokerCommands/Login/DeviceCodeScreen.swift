import BrokerLink
import BrokerValues

/// What a terminal shows of a device code. Address and code stay on the screen whatever its size: the picture is there when
/// there is room for all of it, and the line that is drawn again each second never takes two.
package struct DeviceCodeScreen: Sendable {
    /// Above the address, between it and the code, above the picture.
    static let headings = (
        address: "Open this page on any device:", code: "and enter this code:", picture: "Or let a phone read this:"
    )
    private static let indentation = "  "

    private let code: DeviceCodeOpening
    private let size: TerminalSize?

    /// - Parameter size: nil where there is no terminal.
    package init(_ code: DeviceCodeOpening, on size: TerminalSize?) {
        self.code = code
        self.size = size
    }

    var address: String { Self.indentation + code.verificationURI.cleanWhole }
    var userCode: String { Self.indentation + code.userCode.clean }

    /// Nil where the page is the provider's own.
    package var warning: String? {
        code.otherHost.map {
            "That page is at \($0.clean), not at the provider's own host. Go there only if you expect that."
        }
    }

    /// The address as a QR code: with the code in it, where the provider gives such a one.
    ///
    /// - Returns: nothing where it could not be seen whole, or not be read.
    package func picture(isUTF8: Bool, setsColours: Bool) -> [String] {
        guard let size, isUTF8, let symbol = QRCode(code.verificationURIComplete ?? code.verificationURI)
        else { return [] }
        // One row for the line below it, which the cursor stands in.
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

    /// How long the code is still good, in the longest words that leave a column free: a full line would begin another.
    ///
    /// - Parameter columns: nil for any number.
    package static func waiting(secondsLeft: Int64, columns: Int?) -> String {
        let left = max(0, secondsLeft)
        let seconds = left % 60
        let clock = "\(left / 60):\(seconds < 10 ? "0" : "")\(seconds) left"
        let forms = ["Waiting until you are done; \(clock) (Ctrl-C cancels).", "Waiting; \(clock) (Ctrl-C).", clock]
        guard let columns else { return forms[0] }
        return forms.first { $0.columns < columns } ?? ""
    }
}
