/// Results as a broker writes them, with fields that a client of this version does not know.
package enum ScriptedAnswers {
    package static func account(
        id: String = "acc-1", username: String = "ada@example.org", name: String? = "Ada", signedIn: Bool = true,
        subject: String? = nil
    ) -> String {
        let shown = name.map { #""name":"\#($0)","# } ?? ""
        return
            #"{"id":"\#(id)","username":"\#(username)",\#(shown)"environment":"idp.example.org","tenantId":"t-1","#
            + #""homeAccountId":"sub.idp","authority":"https://idp.example.org","signedIn":\#(signedIn),"#
            + #""claims":{\#(subject.map { #""sub":"\#($0)","# } ?? "")"email":"ada@example.org","roles":["reader",7,null],"age":36,"height":1.7,"admin":false},"#
            + #""later":{"a":1}}"#
    }

    package static func token(
        _ accessToken: String = "AT-1", expiresOn: Int64 = 1_900_000_000, username: String = "ada@example.org",
        subject: String? = nil
    ) -> String {
        #"{"accessToken":"\#(accessToken)","tokenType":"Bearer","expiresOn":\#(expiresOn),"scopes":["email","openid"],"#
            + #""account":\#(account(username: username, subject: subject)),"idToken":"ID-1","authority":"https://idp.example.org","#
            + #""correlationId":"c-1","authorizationHeader":"Bearer \#(accessToken)","fromCache":true,"#
            + #""extendedLifetime":false,"persisted":true,"later":"ignored"}"#
    }

    package static func opening(
        interactionId: String = "i-1", url: String = "https://idp.example.org/authorize?state=s", correlationId: String
    ) -> String {
        #"{"interactionId":"\#(interactionId)","url":"\#(url)","redirectUri":"http://127.0.0.1:4000/","#
            + #""expiresOn":1900000000,"correlationId":"\#(correlationId)"}"#
    }

    package static let status =
        #"{"version":"0.1.0","protocol":1,"uptime":3725,"mode":"user","locked":false,"#
        + #""vault":{"path":"/var/lib/x/vault.db","keySource":"keyfile","records":12,"quarantined":0,"missing":0,"rolledBack":false},"connections":1,"#
        + #""refreshesInFlight":0,"device":{"mode":"private"}}"#

    package static let statistics =
        #"{"records":{"accounts":2,"accessTokens":3,"refreshTokens":2,"idTokens":2,"proofKeys":1,"signOuts":0,"clients":1,"#
        + #""grants":3,"apps":4,"documents":6,"audit":1},"apps":5,"accounts":2,"signedIn":1,"groups":2,"recordBytes":20480,"#
        + #""fileBytes":98304,"cacheBytes":900,"residentBytes":31457280}"#
}
