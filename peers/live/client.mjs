// A client on the official TypeScript SDK that does what it reads from stdin, a line of JSON each, and writes what came of it.
//
//     node client.mjs PEERS [URL]      without a URL, a server whose command is in SERVER as JSON

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = new URL("node/node_modules/@modelcontextprotocol/sdk/dist/esm/", pathToFileURL(process.argv[2] + "/")).href;
const { Client } = await import(`${sdk}client/index.js`);
const { StdioClientTransport } = await import(`${sdk}client/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}client/streamableHttp.js`);
const { ToolListChangedNotificationSchema } = await import(`${sdk}types.js`);

const say = (value) => console.log(JSON.stringify(value));
const client = new Client({ name: "typescript", version: "1" });
let tell;
const told = new Promise((done) => (tell = done));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => tell(true));
const [, , , url] = process.argv;
const [command, ...args] = url ? [] : JSON.parse(process.env.SERVER);
await client.connect(
  url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env: { ...process.env } }),
);
say({ ready: true });

async function act(order) {
  switch (order.do) {
    case "list": {
      const { tools } = await client.listTools();
      return { tools: tools.map((tool) => tool.name).sort() };
    }
    case "told":
      return { told: await Promise.race([told, new Promise((done) => setTimeout(() => done(false), 20_000))]) };
    case "call":
      try {
        const answer = await client.callTool({ name: order.tool, arguments: order.arguments });
        return { failed: Boolean(answer.isError), text: answer.content.map((block) => block.text ?? "").join("") };
      } catch (error) {
        return { raised: `${error.constructor.name}: ${error.message}` };
      }
    default: {
      // Begins a call, and gives it up once it has told of its progress three times.
      const steps = [];
      const giveUp = new AbortController();
      const onprogress = ({ progress }) => {
        steps.push(progress);
        if (steps.length === 3) giveUp.abort("enough");
      };
      const options = { onprogress, signal: giveUp.signal };
      await client.callTool({ name: order.tool, arguments: {} }, undefined, options).catch(() => {});
      return { progress: steps };
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) say(await act(JSON.parse(line)));
await client.close();
process.exit(0);
