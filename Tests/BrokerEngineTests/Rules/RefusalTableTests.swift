import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// The meaning of refusals, by kind of provider (decision 19).
@Suite("The refusal table")
struct RefusalTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var error = "invalid_grant"
        var subError: String?
        var number: Int64?
        var reason: ErrorReason
        var isDead = false
        /// The sentence's advice, so that it does not suggest something useless.
        var advice = "sign in"

        var refusal: OAuthRefusal {
            OAuthRefusal(error: error, subError: subError, status: 400, errorCodes: [number].compactMap(\.self))
        }

        var testDescription: String { "\(error) \(subError ?? "-") \(number.map(String.init) ?? "-")" }
    }

    private static let tenant = "https://login.microsoftonline.com/a1fa0000-0000-4000-8000-00000000000a"
    private static let administrator = "ask"

    private static func expired(_ number: Int64) -> Row {
        Row(number: number, reason: .refreshTokenExpired, isDead: true)
    }

    private static let entraRows: [Row] =
        [70008, 70043, 700081, 700082, 700084, 50089].map(expired)
        + [50072, 50074, 50076, 50078, 50079, 50158].map { Row(number: $0, reason: .loginRequired) }
        + [50020, 50034, 50057].map { Row(number: $0, reason: .notInTenant, advice: administrator) }
        + [50105, 650052].map { Row(number: $0, reason: .notAssigned, advice: administrator) }
        + [53000, 53001, 53002, 53003].map { Row(number: $0, reason: .blockedByPolicy, advice: administrator) }
        + [
            Row(number: 50173, reason: .refreshTokenRevoked, isDead: true),
            Row(subError: "bad_token", reason: .refreshTokenRevoked, isDead: true),
            Row(subError: "bad_token", number: 70000, reason: .refreshTokenRevoked, isDead: true),
            Row(subError: "bad_token", number: 700082, reason: .refreshTokenExpired, isDead: true),
            Row(subError: "user_account_deleted", reason: .accountDeleted, isDead: true, advice: "another account"),
            Row(
                subError: "user_account_deleted", number: 70008, reason: .accountDeleted, isDead: true,
                advice: "another account"),
            Row(subError: "token_expired", reason: .refreshTokenExpired, isDead: true),
            Row(reason: .loginRequired), Row(number: 70000, reason: .loginRequired),
            Row(number: 999_999, reason: .loginRequired), Row(subError: "basic_action", reason: .loginRequired),
            Row(subError: "client_mismatch", number: 70000, reason: .loginRequired),
            Row(number: 65001, reason: .consentRequired), Row(subError: "consent_required", reason: .consentRequired),
            Row(subError: "consent_required", number: 65001, reason: .consentRequired),
            Row(number: 90094, reason: .consentRequired, advice: administrator),
            Row(error: "consent_required", reason: .consentRequired),
            Row(error: "interaction_required", number: 53003, reason: .blockedByPolicy, advice: administrator),
            Row(error: "access_denied", number: 50105, reason: .notAssigned, advice: administrator),
            Row(error: "interaction_required", number: 50173, reason: .loginRequired),
        ]

    private static let genericRows: [Row] = [
        Row(reason: .refreshTokenRevoked, isDead: true),
        Row(subError: "bad_token", reason: .refreshTokenRevoked, isDead: true),
        Row(subError: "token_expired", reason: .refreshTokenExpired, isDead: true),
        Row(subError: "basic_action", reason: .loginRequired),
        Row(error: "login_required", reason: .loginRequired), Row(error: "access_denied", reason: .loginRequired),
    ]

    private func check(_ row: Row, at url: String) {
        let refusal = RefreshRefusal(row.refusal, at: Sample.authority(url))
        #expect(refusal.error.kind == .interactionRequired)
        #expect(refusal.error.reason == row.reason)
        #expect((refusal.tokenState == .dead) == row.isDead)
        #expect(refusal.error.message.contains(row.advice))
        if row.advice == Self.administrator { #expect(!refusal.error.message.contains("sign in")) }
    }

    @Test("Entra's error numbers identify the refusal, and only those about the token end it", arguments: entraRows)
    func entra(row: Row) {
        check(row, at: Self.tenant)
        check(row, at: "https://contoso.ciamlogin.com")
    }

    @Test("a B2C policy error without a number is read by RFC 6749's codes only")
    func b2c() {
        let policy = "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_in"
        check(Row(reason: .refreshTokenRevoked, isDead: true), at: policy)
        for row in Self.entraRows where row.number != nil || row.subError != nil { check(row, at: policy) }
    }

    @Test("invalid_grant ends the token at any other provider", arguments: genericRows)
    func generic(row: Row) {
        check(row, at: "https://id.example.org/realm")
        check(row, at: "https://fs.example.org/adfs")
    }

    @Test("a refusal by a guest's tenant does not end the sign-in", arguments: entraRows)
    func guest(row: Row) {
        var circumstances = RefreshRefusal.Circumstances()
        circumstances.isAtHome = false
        let refusal = RefreshRefusal(row.refusal, circumstances, at: Sample.authority(Self.tenant))
        #expect(refusal.tokenState == .lives)
        let isDeleted = row.reason == .accountDeleted
        #expect(refusal.error.reason == (isDeleted ? .notInTenant : row.isDead ? .loginRequired : row.reason))
    }

    @Test(
        "a token that was refused twice without a reason is dead at every kind of provider", arguments: [true, false])
    func withoutReason(isSecond: Bool) {
        var circumstances = RefreshRefusal.Circumstances()
        circumstances.isSecondWithoutReason = isSecond
        let refusal = RefreshRefusal(
            OAuthRefusal(error: "invalid_grant", status: 400), circumstances, at: Sample.authority(Self.tenant))
        #expect((refusal.tokenState == .dead) == isSecond)
    }
}
