import BrokerEngine
import Testing

@Suite("Claims requests")
struct ClaimsRuleTests {
    @Test("claims without capabilities are sent unchanged, or not at all")
    func untouched() {
        #expect(ClaimsRule.merged(nil, capabilities: []) == nil)
        let given = #"{ "id_token" : null }"#
        #expect(ClaimsRule.merged(given, capabilities: []) == given)
    }

    @Test("capabilities alone become a claims request of their own")
    func alone() {
        #expect(
            ClaimsRule.merged(nil, capabilities: ["cp1", "cp2"])
                == #"{"access_token":{"xms_cc":{"values":["cp1","cp2"]}}}"#)
    }

    @Test("capabilities are added to a challenge, whose other members stay unchanged")
    func challenge() {
        let challenge =
            #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"}},"id_token":{"acr":null}}"#
        #expect(
            ClaimsRule.merged(challenge, capabilities: ["cp1"])
                == #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"},"xms_cc":{"values":["cp1"]}},"#
                + #""id_token":{"acr":null}}"#)
    }

    @Test("capabilities that the request already names are not repeated, and none of it is lost")
    func union() {
        #expect(
            ClaimsRule.merged(
                #"{"access_token":{"xms_cc":{"essential":true,"values":["cp2","cp1"]}}}"#, capabilities: ["cp1", "cp3"])
                == #"{"access_token":{"xms_cc":{"essential":true,"values":["cp2","cp1","cp3"]}}}"#)
        #expect(
            ClaimsRule.merged(#"{"access_token":{"xms_cc":{"value":"cp9"}}}"#, capabilities: ["cp1"])
                == #"{"access_token":{"xms_cc":{"values":["cp9","cp1"]}}}"#)
        #expect(
            ClaimsRule.merged(#"{"access_token":null}"#, capabilities: ["cp1"])
                == #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
    }

    @Test(
        "only an essential acr is binding, to its named values if there are any",
        arguments: [
            (#"{"id_token":{"acr":{"essential":true,"values":["gold","silver"]}}}"#, ["gold", "silver"]),
            (#"{"id_token":{"acr":{"essential":true,"value":"gold"}}}"#, ["gold"]),
            (#"{"id_token":{"acr":{"essential":true}}}"#, []),
            (#"{"id_token":{"acr":{"values":["gold"]}}}"#, nil),
            (#"{"id_token":{"acr":{"essential":false,"values":["gold"]}}}"#, nil),
            (#"{"id_token":{"acr":null}}"#, nil), (#"{"userinfo":{"acr":{"essential":true}}}"#, nil), (nil, nil),
        ] as [(String?, [String]?)])
    func essentialContexts(claims: String?, expected: [String]?) {
        #expect(ClaimsRule.essentialContexts(in: claims) == expected)
    }
}
