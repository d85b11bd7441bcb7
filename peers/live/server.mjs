// A server on the official TypeScript SDK that takes another contract while it runs, and tells its clients: once the file
// SWITCH is there, `deploy` demands a region. What it does goes into the file EFFECTS, a line each.
//
//     SWITCH=… EFFECTS=… node server.mjs PEERS      PEERS is the folder that peers/install.sh filled

import { appendFileSync, existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

const modules = new URL("node/node_modules/", pathToFileURL(process.argv[2] + "/")).href;
const { McpServer } = await import(`${modules}@modelcontextprotocol/sdk/dist/esm/server/mcp.js`);
const { StdioServerTransport } = await import(`${modules}@modelcontextprotocol/sdk/dist/esm/server/stdio.js`);
const { z } = await import(`${modules}zod/index.js`);

const server = new McpServer({ name: "notes", version: "1" });
const did = (line) => appendFileSync(process.env.EFFECTS, line + "\n");
const said = (text) => ({ content: [{ type: "text", text }] });
const project = z.string().describe("Slug of the project");

const deploy = server.registerTool("deploy", { description: "Deploys a project.", inputSchema: { project } }, async (given) => {
  did(`deploy ${JSON.stringify(given)}`);
  return said("deployed");
});

// Tells its progress, and goes on until it is cancelled.
server.registerTool("wait", { description: "Waits.", inputSchema: {} }, async (_given, extra) => {
  const progressToken = extra._meta?.progressToken;
  for (let step = 1; step <= 600; step += 1) {
    if (extra.signal.aborted) {
      did("cancelled");
      break;
    }
    if (progressToken !== undefined && step <= 3) {
      const params = { progressToken, progress: step, total: 3 };
      await extra.sendNotification({ method: "notifications/progress", params });
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return said("waited");
});

const looking = setInterval(() => {
  if (!existsSync(process.env.SWITCH)) return;
  clearInterval(looking);
  const region = z.enum(["eu", "us"]).describe("Region of the deployment");
  deploy.update({ paramsSchema: { project, region } });
  did("switched");
}, 20);
await server.connect(new StdioServerTransport());
server.server.onclose = () => process.exit(0);
process.stdin.on("end", () => process.exit(0));
