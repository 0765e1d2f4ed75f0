import BrokerValues

/// The frames of responses (JSON-RPC 2.0, section 5); the caller ends the line.
extension JSONWriter {
    /// Opens `{"jsonrpc":"2.0","id":…,"result":`; a value and ``endAnswer()`` must follow.
    package mutating func beginResult(id: RequestID) {
        beginAnswer(id: id)
        json(after: ",\"result\":")
    }

    package mutating func endAnswer() { endObject() }

    package mutating func answer(_ result: some WireValue, to id: RequestID) {
        beginResult(id: id)
        result.write(to: &self)
        endAnswer()
    }

    /// Not called `answer`: an error is also a value and would be accepted there.
    package mutating func refuse(with error: RPCError, to id: RequestID?) {
        beginAnswer(id: id)
        json(after: ",\"error\":")
        error.write(to: &self)
        endAnswer()
    }

    package mutating func notification<N: BrokerNotification>(_ type: N.Type, _ params: N.Params) {
        beginNotification(type)
        params.write(to: &self)
        endObject()
    }

    /// Opens the notification's object; its params and ``endObject()`` must follow.
    package mutating func beginNotification<N: BrokerNotification>(_: N.Type) {
        beginObject()
        key("jsonrpc")
        string("2.0")
        key("method")
        string(N.name)
        key("params")
    }

    private mutating func beginAnswer(id: RequestID?) {
        json("{\"jsonrpc\":\"2.0\",\"id\":" as StaticString)
        if let id { json(id.json) } else { null() }
    }
}
