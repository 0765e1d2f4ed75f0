"""Many callers in many processes: callers.py SOCKET PROCESSES CALLS LEAVING REQUEST

Each process asks CALLS times at once on a connection of its own. When the broker has taken all of its requests, it says
"asked", and then one line for each answer: "token ...", or "error ..." with the kind. The first LEAVING processes say
"left" instead, and end without an answer."""

import json, os, socket, sys

path, processes, calls, leaving = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
request = json.loads(sys.argv[5])


def say(*words):
    os.write(1, (" ".join(words) + "\n").encode())


def ask(leaves):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    lines = [dict(request, jsonrpc="2.0", id=number) for number in range(calls)]
    # Lines are taken in their order: when this one is answered, those before it are with the broker.
    lines.append({"jsonrpc": "2.0", "id": "last", "method": "broker.status"})
    connection.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
    answers, left = connection.makefile("r"), calls
    while left:
        answer = json.loads(answers.readline())
        if answer.get("id") == "last":
            say("left" if leaves else "asked")
            if leaves:
                return
        elif "result" in answer:
            say("token", answer["result"]["accessToken"])
            left -= 1
        elif "id" in answer:
            say("error", answer["error"]["data"].get("kind", "?"))
            left -= 1


children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        ask(number < leaving)
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
