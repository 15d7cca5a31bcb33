// OpenLLMetry's instrumentations of Qdrant and Pinecone in JavaScript, on a local stub of both HTTP APIs.
//
// Run in a folder where the packages of ../captured/origins.toml are installed: node openllmetry_js.mjs PATH/TO/captured.

import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import pinecone from "@pinecone-database/pinecone";
import * as qdrant from "@qdrant/js-client-rest";
import { PineconeInstrumentation } from "@traceloop/instrumentation-pinecone";
import { QdrantInstrumentation } from "@traceloop/instrumentation-qdrant";

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(exporter)];
const tracerProvider = new NodeTracerProvider({ resource: resourceFromAttributes({ "service.name": "js-agent" }), spanProcessors });
for (const [instrumentation, module] of [
  [new QdrantInstrumentation({ traceContent: true }), qdrant],
  [new PineconeInstrumentation(), pinecone],
]) {
  instrumentation.setTracerProvider(tracerProvider);
  instrumentation.manuallyInstrument(module);
}

const found = [
  ["mem-1", 0.9, { confidence: 0.3, created_by: "triage" }],
  ["mem-2", 0.8, { confidence: 1, created_by: "diagnosis" }],
];
const points = found.map(([id, score, payload]) => ({ id, version: 0, score, payload }));
const matches = found.map(([id, score, metadata]) => ({ id, score, metadata }));

// What is asked of `ops` finds both, of `fail` an error, of anything else nothing.
const api = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const asked = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  const of = request.url.match(/collections\/(\w+)/)?.[1] ?? asked.namespace;
  const answer = request.url.startsWith("/query")
    ? { matches: of === "ops" ? matches : [], namespace: of, usage: { readUnits: 5 } }
    : { result: request.url.endsWith("/search") && of === "ops" ? points : [], status: "ok", time: 0, upsertedCount: 2 };
  response.writeHead(of === "fail" ? 400 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
await new Promise((listening) => api.listen(0, "127.0.0.1", listening));
const { port } = api.address();

// Of both: a write of two, a read that finds both, one that finds none, one of known ids, a delete, a failure.
const client = new qdrant.QdrantClient({ url: `http://127.0.0.1:${port}`, checkCompatibility: false });
const vector = [1, 0];
await client.upsert("ops", { points: points.map(({ id, payload }) => ({ id, payload, vector })) });
await client.search("ops", { vector, limit: 2, with_payload: true });
await client.search("empty", { vector, limit: 2, with_payload: true });
await client.retrieve("ops", { ids: ["mem-1"] });
await client.delete("ops", { points: ["mem-1"] });
await client.search("fail", { vector, limit: 2 }).catch(() => undefined);

const index = new pinecone.Pinecone({ apiKey: "none" }).index({ host: `http://127.0.0.1:${port}` });
await index.namespace("ops").upsert({ records: matches.map(({ id, metadata }) => ({ id, metadata, values: vector })) });
for (const namespace of ["ops", "empty", "fail"]) {
  await index.namespace(namespace).query({ vector, topK: 2, includeMetadata: true }).catch(() => undefined);
}
api.close();

const request = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans())));
writeFileSync(`${process.argv[2]}/openllmetry_js.json`, JSON.stringify(request, null, 1) + "\n");
for (const span of request.resourceSpans.flatMap((part) => part.scopeSpans.flatMap((scope) => scope.spans))) {
  console.log(span.name, JSON.stringify(span.attributes.map((pair) => [pair.key, Object.values(pair.value)[0]])));
}
