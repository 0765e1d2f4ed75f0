import BrokerSystem
import CSystemd
import Glibc

/// The failure of a call on a message bus.
package struct BusError: Error, Sendable {
    /// The error's name in the reply (`org.freedesktop.DBus.Error.ServiceUnknown`), or libsystemd's for a reply that is missing;
    /// `nil` for an error of this side.
    package var name: String?
    /// The text for people, without a full stop.
    package var text: String
    /// The errno value.
    package var number: Int32

    package init(number: Int32, name: String? = nil, text: String? = nil) {
        self.number = number
        self.name = name
        self.text = text ?? errnoText(number)
    }

    init(code: Int32, _ answer: sd_bus_error = sd_bus_error()) {
        self.init(
            number: -code, name: answer.name.map { String(cString: $0) },
            text: answer.message.map { String(cString: $0) })
    }

    /// Whether the call timed out. The reply may come later.
    package var isSilence: Bool {
        number == ETIMEDOUT || name == SD_BUS_ERROR_NO_REPLY || name == SD_BUS_ERROR_TIMEOUT
    }

    /// Whether no program owns the name, and none can be started for it.
    package var isAbsence: Bool { name == SD_BUS_ERROR_SERVICE_UNKNOWN || name == SD_BUS_ERROR_NAME_HAS_NO_OWNER }

    /// Whether the connection can no longer be used.
    package var isDisconnection: Bool {
        [ENOTCONN, ECONNRESET, EPIPE, ESHUTDOWN].contains(number) || name == SD_BUS_ERROR_DISCONNECTED
    }
}
