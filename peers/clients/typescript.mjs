// A client on the official TypeScript SDK: it lists, waits to be told of a change, and makes the call that it had planned.

import { pathToFileURL } from "node:url";

const peers = process.env.PEERS ? pathToFileURL(process.env.PEERS + "/") : new URL("../../target/peers/", import.meta.url);
const sdk = new URL("node/node_modules/@modelcontextprotocol/sdk/dist/esm", peers).href;
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const { ToolListChangedNotificationSchema } = await import(`${sdk}/types.js`);

const [command, ...args] = JSON.parse(process.env.STEADFAST_SERVER_JSON);
const client = new Client({ name: "typescript", version: "1" });
let tell;
const told = new Promise((done) => (tell = done));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => tell(true));
await client.connect(new StdioClientTransport({ command, args }));
await client.listTools();
const heard = await Promise.race([told, new Promise((done) => setTimeout(() => done(false), 5000).unref())]);
console.log(heard ? "told of the change" : "no word of a change");
try {
  const answer = await client.callTool({ name: "deploy_preview", arguments: { project: "shop" } });
  console.log(answer.isError ? "error given to the caller" : "answer given to the caller");
} catch (error) {
  console.log(`raised ${error.constructor.name}: ${error.message.split("\n")[0].slice(0, 160)}`);
}
await client.close();
