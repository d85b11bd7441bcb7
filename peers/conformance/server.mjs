// The fixture server of the conformance comparison: what the suite asks of a server, in both eras at one address. Requests that
// carry the 2026-07-28 envelope are served one by one; all others belong to a session of 2025-11-25.
//
//     node server.mjs FOLDER      FOLDER holds the node_modules that peers/install.sh installed
//
// It takes a free port of 127.0.0.1 and prints its address.

import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { crc32, deflateSync } from "node:zlib";

// This file lies in the repository and its modules in the target folder, so they are looked up from there.
const installed = createRequire(join(process.argv[2] ?? ".", "package.json"));
const sdk = installed("@modelcontextprotocol/server");
const http = installed("@modelcontextprotocol/node");
const { inputRequired: ask } = sdk;

const STEP_MS = 50;
const RETRY_MS = 300;
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

// Content

const text = (words) => ({ type: "text", text: words });
const said = (words) => ({ content: [text(words)] });
const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const user = (content) => ({ role: "user", content });

function png() {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const framed = Buffer.alloc(body.length + 8);
    framed.writeUInt32BE(data.length);
    body.copy(framed, 4);
    framed.writeUInt32BE(crc32(body), body.length + 4);
    return framed;
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const pixel = deflateSync(Buffer.from([0, 200, 30, 30]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const parts = [signature, chunk("IHDR", header), chunk("IDAT", pixel), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat(parts).toString("base64");
}

function wav() {
  const sound = Buffer.alloc(8, 0x80);
  const header = Buffer.alloc(44);
  header.write("RIFF");
  header.writeUInt32LE(36 + sound.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36);
  header.writeUInt32LE(sound.length, 40);
  return Buffer.concat([header, sound]).toString("base64");
}

const picture = { type: "image", mimeType: "image/png", data: png() };

// Schemas

const string = { type: "string" };
const object = (properties = {}, required = Object.keys(properties)) => ({ type: "object", properties, required });
const nothing = object();
const titled = (words) => words.map((word, index) => ({ const: `value${index + 1}`, title: word }));
const plain = ["option1", "option2", "option3"];

const dialect = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: string, city: string } } },
  properties: {
    name: string, phone: string, email: string,
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const defaults = object({
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
}, []);

const enums = object({
  untitledSingle: { type: "string", enum: plain },
  titledSingle: { type: "string", oneOf: titled(["First Option", "Second Option", "Third Option"]) },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: plain } },
  titledMulti: { type: "array", items: { anyOf: titled(["First Choice", "Second Choice", "Third Choice"]) } },
}, []);

// Input that a call of 2026-07-28 waits for

const form = (message, properties) => ask.elicit({ message, requestedSchema: object(properties) });
const sample = (words, maxTokens) => ask.createMessage({ messages: [user(text(words))], maxTokens });
const sealed = sdk.createRequestStateCodec({ key: randomBytes(32) });

function answered(request, given) {
  if (request.method !== "elicitation/create") return typeof given === "object" && given !== null;
  const required = request.params.requestedSchema.required;
  return given?.action === "accept" && required.every((name) => given.content?.[name] !== undefined);
}

// Asks round after round until each has its answers. With `state` the rounds so far travel with the client, sealed; a round
// whose state did not come back is asked again.
function rounds(asked, done, { state = false } = {}) {
  return async (ctx) => {
    let { round, answers } = ctx.mcpReq.requestState() ?? { round: 0, answers: {} };
    const given = ctx.mcpReq.inputResponses ?? {};
    const requests = typeof asked[round] === "function" ? asked[round](ctx) : asked[round];
    const complete = Object.entries(requests).every(([key, request]) => answered(request, given[key]));
    if (complete && (!state || ctx.mcpReq.requestState() !== undefined)) {
      answers = { ...answers, ...given };
      round += 1;
    }
    if (round === asked.length) return done(answers);
    const inputRequests = round === 0 || !complete ? requests : asked[round];
    if (!state) return ask({ inputRequests });
    return ask({ inputRequests, requestState: await sealed.mint({ round, answers, nonce: randomUUID() }) });
  };
}

const name = () => form("What is your name?", { name: string });
const confirm = () => form("Please confirm", { ok: { type: "boolean" } });
const greeting = () => sample("Generate a greeting", 50);

function whatTheClientCan(ctx) {
  const can = ctx.mcpReq.envelope?.[CAPABILITIES] ?? {};
  return {
    ...(can.elicitation && { user_name: name() }),
    ...(can.sampling && { greeting: greeting() }),
    ...(can.roots && { client_roots: ask.listRoots() }),
  };
}

// Tools: name, what it takes, what it does with (context, arguments, who can be told of changes).

async function elicits(ctx, message, requestedSchema, prefix) {
  const { action, content = {} } = await ctx.mcpReq.elicitInput({ message, requestedSchema });
  return said(`${prefix}action=${action}, content=${JSON.stringify(content)}`);
}

const tools = [
  ["test_simple_text", nothing, () => said("This is a simple text response for testing.")],
  ["test_image_content", nothing, () => ({ content: [picture] })],
  ["test_audio_content", nothing, () => ({ content: [{ type: "audio", mimeType: "audio/wav", data: wav() }] })],
  ["test_embedded_resource", nothing, () => ({
    content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })],
  ["test_multiple_content_types", nothing, () => ({
    content: [
      text("Multiple content types test:"),
      picture,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  })],
  ["test_error_handling", nothing, () => {
    throw new Error("This tool intentionally returns an error for testing");
  }],
  ["test_tool_with_logging", nothing, async (ctx) => {
    for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", words);
      await pause(STEP_MS);
    }
    return said("logged three times");
  }],
  ["test_logging_tool", nothing, async (ctx) => {
    await ctx.mcpReq.log("info", "only for a request that names a level");
    return said("logged where asked for");
  }],
  ["test_tool_with_progress", nothing, async (ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {};
    for (let progress = 0; progress <= 100; progress += 50) {
      const params = { progressToken, progress, total: 100 };
      // Without a token nobody asked.
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: "notifications/progress", params });
      await pause(STEP_MS);
    }
    return said("all of it");
  }],
  ["test_reconnection", nothing, async (ctx) => {
    ctx.http?.closeSSE?.();
    await pause(2 * STEP_MS);
    return said("answered after the stream was closed");
  }],
  ["test_sampling", object({ prompt: string }), async (ctx, { prompt }) => {
    const answer = await ctx.mcpReq.requestSampling({ messages: [user(text(prompt))], maxTokens: 100 });
    return said(`LLM response: ${answer.content?.text ?? JSON.stringify(answer.content)}`);
  }],
  ["test_elicitation", object({ message: string }), (ctx, { message }) => {
    const schema = object({
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    });
    return elicits(ctx, message, schema, "User response: ");
  }],
  ["test_elicitation_sep1034_defaults", nothing,
    (ctx) => elicits(ctx, "Is this right?", defaults, "Elicitation completed: ")],
  ["test_elicitation_sep1330_enums", nothing, (ctx) => elicits(ctx, "Which ones?", enums, "Elicitation completed: ")],
  ["test_streaming_elicitation", nothing, () => said("nothing else is on this stream")],
  ["json_schema_2020_12_tool", dialect, (_ctx, given) => said(JSON.stringify(given))],
  ["test_x_mcp_header", object({ region: { type: "string", "x-mcp-header": "Region" } }, []),
    (_ctx, given) => said(`region ${given.region ?? "not given"}`)],
  ["test_trigger_tool_change", nothing, (_ctx, _given, notify) => (notify.toolsChanged(), said("told"))],
  ["test_trigger_prompt_change", nothing, (_ctx, _given, notify) => (notify.promptsChanged(), said("told"))],
  ["test_missing_capability", nothing, rounds([{ greeting: greeting() }], () => said("sampled"))],
  ["test_input_required_result_elicitation", nothing,
    rounds([{ user_name: name() }], (got) => said(`Hello, ${got.user_name.content.name}!`))],
  ["test_input_required_result_sampling", nothing,
    rounds([{ capital_question: sample("What is the capital of France?", 100) }],
      (got) => said(`It said: ${got.capital_question.content?.text}`))],
  ["test_input_required_result_list_roots", nothing,
    rounds([{ client_roots: ask.listRoots() }], (got) => said(got.client_roots.roots.map((root) => root.uri).join(" ")))],
  ["test_input_required_result_request_state", nothing,
    rounds([{ confirm: confirm() }], () => said("state-ok"), { state: true })],
  ["test_input_required_result_tampered_state", nothing,
    rounds([{ confirm: confirm() }], () => said("the state is what was handed out"), { state: true })],
  ["test_input_required_result_multiple_inputs", nothing,
    rounds([{ user_name: name(), greeting: greeting(), client_roots: ask.listRoots() }],
      (got) => said(`${got.greeting.content?.text} ${got.user_name.content.name}`), { state: true })],
  ["test_input_required_result_multi_round", nothing,
    rounds([
      { step1: form("Step 1: What is your name?", { name: string }) },
      { step2: form("Step 2: What is your favorite color?", { color: string }) },
    ], (got) => said(`${got.step1.content.name} likes ${got.step2.content.color}`), { state: true })],
  ["test_input_required_result_capabilities", nothing, rounds([whatTheClientCan], () => said("as far as the client can"))],
];

// Prompts: name, its arguments, its messages.

const prompts = [
  ["test_simple_prompt", undefined, () => [text("This is a simple prompt for testing.")]],
  ["test_prompt_with_arguments", object({ arg1: string, arg2: string }),
    ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)]],
  ["test_prompt_with_embedded_resource", object({ resourceUri: string }), ({ resourceUri }) => [
    embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
    text("Please process the embedded resource above."),
  ]],
  ["test_prompt_with_image", undefined, () => [picture, text("Please analyze the image above.")]],
];

const asking = rounds([{ user_context: form("What context should the prompt use?", { context: string }) }],
  (got) => ({ messages: [user(text(`In the context of ${got.user_context.content.context}`))] }));

// Resources: address, kind, content.

const resources = [
  ["test://static-text", "text/plain", { text: "This is the content of the static text resource." }],
  ["test://static-binary", "image/png", { blob: picture.data }],
  ["test://watched-resource", "text/plain", { text: "Nothing happens here." }],
];

const completions = ["paris", "park", "party"];

function fixture(notify) {
  const listChanged = true;
  const capabilities = {
    tools: { listChanged }, prompts: { listChanged }, resources: { listChanged, subscribe: true }, logging: {}, completions: {},
  };
  const server = new sdk.McpServer({ name: "steadfast-conformance", version: "1" },
    { capabilities, requestState: { verify: sealed.verify } });
  for (const [tool, schema, act] of tools) {
    const inputSchema = sdk.fromJsonSchema(schema);
    server.registerTool(tool, { description: `Asked for by the suite: ${tool}`, inputSchema },
      (given, ctx) => act(ctx, given, notify ?? legacyNotifier(server)));
  }
  for (const [prompt, schema, render] of prompts) {
    const answer = (given) => ({ messages: render(given).map(user) });
    const argsSchema = schema && sdk.fromJsonSchema(schema);
    const about = { description: `Asked for by the suite: ${prompt}`, ...(argsSchema && { argsSchema }) };
    server.registerPrompt(prompt, about, answer);
  }
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks for its context" }, asking);
  for (const [uri, mimeType, content] of resources) {
    server.registerResource(uri.slice("test://".length), uri, { description: `At ${uri}`, mimeType },
      () => ({ contents: [{ uri, mimeType, ...content }] }));
  }
  server.registerResource("template", new sdk.ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "One by number", mimeType: "application/json" },
    (uri, { id }) => {
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: data }] };
    });
  server.server.setRequestHandler("completion/complete", ({ params }) => {
    const values = completions.filter((word) => word.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
  // Nothing here ever changes, so what is subscribed to need not be kept.
  for (const method of ["resources/subscribe", "resources/unsubscribe"]) server.server.setRequestHandler(method, () => ({}));
  return server;
}

const legacyNotifier = (server) => ({
  toolsChanged: () => server.sendToolListChanged(),
  promptsChanged: () => server.sendPromptListChanged(),
});

// What was said on the streams of a session, for clients that come back.
class Said {
  events = [];
  async storeEvent(stream, message) {
    this.events.push({ stream, message });
    return `${stream}#${this.events.length}`;
  }
  async replayEventsAfter(last, { send }) {
    const cut = last.lastIndexOf("#");
    const stream = last.slice(0, cut);
    for (let at = Number(last.slice(cut + 1)); at < this.events.length; at += 1) {
      const event = this.events[at];
      // The event that opens a stream has no message.
      if (event.stream === stream && event.message.jsonrpc) await send(`${stream}#${at + 1}`, event.message);
    }
    return stream;
  }
}

const sessions = new Map();
const modern = sdk.createMcpHandler(() => fixture(modern.notify), { onerror: () => {} });
const serveModern = http.toNodeHandler(modern);
const ours = http.localhostHostValidation();
const ourPages = http.localhostOriginValidation();

async function open() {
  const transport = new http.NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new Said(),
    retryInterval: RETRY_MS,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await fixture().connect(transport);
  return transport;
}

function refuse(res, status, message) {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
}

async function serve(req, res) {
  if (!ours(req, res) || !ourPages(req, res)) return;
  let body;
  if (req.method === "POST") {
    const parts = [];
    for await (const part of req) parts.push(part);
    try {
      body = JSON.parse(Buffer.concat(parts).toString());
    } catch {
      return refuse(res, 400, "That is not JSON.");
    }
    const inbound = sdk.classifyInboundRequest({
      httpMethod: "POST",
      protocolVersionHeader: req.headers["mcp-protocol-version"],
      mcpMethodHeader: req.headers["mcp-method"],
      body,
    });
    if (inbound.kind !== "legacy") return serveModern(req, res, body);
  }
  const id = req.headers["mcp-session-id"];
  if (id === undefined && !sdk.isInitializeRequest(body)) return refuse(res, 400, "A session begins with initialize.");
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport === undefined) return refuse(res, 404, "There is no such session.");
  await transport.handleRequest(req, res, body);
}

const listener = createServer((req, res) => {
  serve(req, res).catch((error) => {
    console.error(error);
    if (!res.headersSent) refuse(res, 500, error.message);
  });
});
listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
