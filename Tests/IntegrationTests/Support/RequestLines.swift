import BrokerTestSupport
import BrokerValues
import Foundation

/// A request in one line, for a program that sends it.
func requestLine(_ method: String, _ params: JSONObject = [:]) throws -> String {
    let request: JSONObject = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(params)]
    return String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
}

/// The answers that a program printed, a line each.
func answers(in output: String) throws -> [JSONObject] {
    try output.split(separator: "\n").map { try JSONDecoder().decode(JSONObject.self, from: Data($0.utf8)) }
}

/// Words for a shell.
func quoted(_ words: [String]) -> String {
    words.map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " ")
}
