//! The ways in which one program is made another server under the connection of its client.

use crate::run::Folder;

/// A server that is made another one by a signal, a file, or a request at the port of its first argument.
const FLIPS: &str = r#"
import http.server, json, os, signal, sys, threading
flipped = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: flipped.set())
class Flip(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        flipped.set()
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass
if len(sys.argv) > 1:
    web = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Flip)
    threading.Thread(target=web.serve_forever, daemon=True).start()
def tools():
    name = "place" if flipped.is_set() or os.path.exists("flipped") else "zone"
    return [{"name": "get_time", "inputSchema": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    (name,) = tools()[0]["inputSchema"]["required"]
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": tools()}
    else:
        lacks = name not in message["params"]["arguments"]
        result = {"isError": lacks, "content": [{"type": "text", "text": f"{name} is required" if lacks else "12:00"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn one_program_is_switched_by_a_signal_a_file_a_command_or_a_request() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        return;
    }
    let folder = Folder::new();
    let list = |name: &str| serde_json::json!([{"name": "get_time", "inputSchema": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}}]);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let scenario = |port: &str, hook: &str| {
        format!(
            "drift: 1\nname: flips\ntarget: server\nserver:\n  command: [python3, flips.py{port}]\n  switch: {{{hook}}}\n  lists: {{before: {}, after: {}}}\nsteps:\n  - list:\n    shows: before\n  - plan: old\n    tool: get_time\n    arguments: {{zone: UTC}}\n  - switch\n  - refresh:\n    shows: after\n  - call: old\n    answer: refused\n    names: place\n",
            list("zone"),
            list("place")
        )
    };
    folder.file("flips.py", FLIPS);
    let request = format!("request: 'POST http://127.0.0.1:{free}/flip'");
    let port = format!(", '{free}'");
    for (port, hook) in [
        ("", "signal: USR1"),
        ("", "file: flipped"),
        ("", "run: [touch, flipped]"),
        (port.as_str(), request.as_str()),
    ] {
        let _ = std::fs::remove_file(folder.path("flipped"));
        let run = folder.file("f.yaml", scenario(port, hook)).run(&["test", "f.yaml"]);
        run.code(0).says("1 call reached the server, as they must; effects not observed");
    }
    // A hook that does not work is no drift: the scenario did not run.
    let _ = std::fs::remove_file(folder.path("flipped"));
    for (hook, said) in [
        ("run: ['false']", "`false` ended with exit status: 1"),
        ("file: no/such/folder", "the switch failed"),
        ("request: 'POST http://127.0.0.1:9/'", "the switch failed"),
    ] {
        folder
            .file("f.yaml", scenario("", hook))
            .run(&["test", "f.yaml"])
            .code(1)
            .says("not-run")
            .says(said);
    }
    // A hook that changes nothing is seen by the list.
    folder
        .file("f.yaml", scenario("", "run: ['true']"))
        .run(&["test", "f.yaml"])
        .code(1)
        .says("the client is shown another list than it must");
}
