// Mastra's OpenTelemetry exporter on an agent with memory in SQLite and a model that is scripted.
//
// Run in a folder where the packages of ../captured/origins.toml are installed: node mastra.mjs PATH/TO/captured.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import { Observability } from "@mastra/observability";
import { OtelExporter } from "@mastra/otel-exporter";

const requests = [];
const collector = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  requests.push(JSON.parse(Buffer.concat(chunks)));
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
await new Promise((listening) => collector.listen(0, "127.0.0.1", listening));
const endpoint = `http://127.0.0.1:${collector.address().port}/v1/traces`;

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const model = {
  specificationVersion: "v2",
  provider: "stub",
  modelId: "stub",
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: "text", text: "Raise it to 200." }],
    finishReason: "stop",
    usage,
    warnings: [],
  }),
};

const storage = new LibSQLStore({ id: "memories", url: ":memory:" });
const memory = new Memory({ storage, options: { lastMessages: 10 } });
const agent = new Agent({ id: "action", name: "action", instructions: "help", model, memory });
const exporter = new OtelExporter({ provider: { custom: { endpoint, protocol: "http/json" } } });
const configs = { otel: { serviceName: "mastra-agent", exporters: [exporter] } };
const mastra = new Mastra({ agents: { agent }, storage, logger: false, observability: new Observability({ configs }) });

// A turn that recalls nothing and saves; one that recalls what was saved; then the memory asked directly, also in vain.
const options = { memory: { thread: "incident-7", resource: "user-1" } };
await mastra.getAgent("agent").generate("What is wrong with the pool?", options);
await mastra.getAgent("agent").generate("And now?", options);
const tracing = mastra.observability.getDefaultInstance();
const root = tracing.startSpan({ type: "agent_run", name: "agent run: 'action'", entityId: "action", entityName: "action" });
const observabilityContext = { tracingContext: { currentSpan: root } };
await memory.recall({ threadId: "incident-7", resourceId: "user-1", observabilityContext });
const message = {
  id: "mem-1",
  threadId: "incident-7",
  resourceId: "user-1",
  role: "user",
  createdAt: new Date(),
  content: { format: 2, parts: [{ type: "text", text: "The pool is full." }] },
};
await memory.saveMessages({ messages: [message], observabilityContext });
await memory.deleteMessages(["mem-1"], observabilityContext);
await memory.recall({ threadId: "nowhere", resourceId: "user-1", observabilityContext }).catch(() => undefined);
root.end();
await mastra.shutdown();
collector.close();

// The memory spans and what they are part of: models and their chunks are of no interest here.
const resource = requests[0].resourceSpans[0];
const spans = requests.flatMap((request) => request.resourceSpans).flatMap((part) => part.scopeSpans.flatMap((scope) => scope.spans));
const byId = new Map(spans.map((span) => [span.spanId, span]));
const kept = new Set();
for (let span of spans.filter((span) => span.name.startsWith("memory_operation"))) {
  for (; span; span = byId.get(span.parentSpanId)) kept.add(span);
}
const ordered = spans.filter((span) => kept.has(span)).sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
const about = resource.resource.attributes.filter((pair) => /^(service\.name|telemetry\.sdk\.\w+)$/.test(pair.key));
const request = { resourceSpans: [{ resource: { attributes: about }, scopeSpans: [{ scope: resource.scopeSpans[0].scope, spans: ordered }] }] };
writeFileSync(`${process.argv[2]}/mastra.json`, JSON.stringify(request, null, 1) + "\n");
for (const span of ordered) {
  console.log(span.name, JSON.stringify(span.attributes.map((pair) => [pair.key, Object.values(pair.value)[0]])));
}
