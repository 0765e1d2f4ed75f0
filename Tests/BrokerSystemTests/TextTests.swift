import BrokerSystem
import Glibc
import Testing

@Suite("Texts of times, errors and owners")
struct TextTests {
    @Test(
        "a time is written in UTC, with leap days",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:01Z"), (86_399, "1970-01-01T23:59:59Z"),
            (86_400, "1970-01-02T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"), (1_767_323_045, "2026-01-02T03:04:05Z"),
            (2_147_483_648, "2038-01-19T03:14:08Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func times(time: Int64, text: String) { #expect(utcText(time) == text) }

    @Test("a time before 1970 or after 9999 becomes the nearest that can be written")
    func bounds() {
        for time: Int64 in [-1, -86_400, .min] { #expect(utcText(time) == "1970-01-01T00:00:00Z") }
        for time: Int64 in [253_402_300_800, 1 << 62, .max] { #expect(utcText(time) == "9999-12-31T23:59:59Z") }
    }

    @Test("an error number has the system's text, an unknown one too")
    func errors() {
        #expect(errnoText(ENOENT) == "No such file or directory")
        #expect(errnoText(EACCES) == "Permission denied")
        #expect(errnoText(0) == "Success")
        for number: Int32 in [99_999, -1, .max, .min] { #expect(errnoText(number).contains("\(number)")) }
    }

    @Test("an owner has its name and number, and one that the system does not know its number")
    func owners() {
        #expect(ownerText(0) == "root (uid 0)")
        #expect(ownerText(3_999_999_999) == "uid 3999999999")
    }
}
