// OpenInference's instrumentation of LangChain in JavaScript, on a vector store in memory.
//
// Run in a folder where the packages of ../captured/origins.toml are installed: node THIS.mjs PATH/TO/captured.

import { writeFileSync } from "node:fs";

import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import * as callbacks from "@langchain/core/callbacks/manager";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { Document } from "@langchain/core/documents";
import { RunnableLambda } from "@langchain/core/runnables";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(exporter)];
const tracerProvider = new NodeTracerProvider({ resource: resourceFromAttributes({ "service.name": "js-agent" }), spanProcessors });
new LangChainInstrumentation({ tracerProvider }).manuallyInstrument(callbacks);

const found = [
  ["mem-1", "maybe the pool", { confidence: 0.3, created_by: "triage" }],
  ["mem-2", "raise it", { confidence: 1, created_by: "diagnosis" }],
];
const store = new MemoryVectorStore(new FakeEmbeddings());
await store.addDocuments(found.map(([id, pageContent, metadata]) => new Document({ id, pageContent, metadata })));
const broken = new MemoryVectorStore({ embedQuery: async () => { throw new Error("no embedder"); } });

// A read that finds both within a chain of a session, one that finds none, a failure.
const metadata = { session_id: "incident-7" };
await RunnableLambda.from((asked, config) => store.asRetriever(2).invoke(asked, config)).invoke("why slow", { runName: "triage", metadata });
await new MemoryVectorStore(new FakeEmbeddings()).asRetriever(2).invoke("why slow");
await broken.asRetriever(2).invoke("why slow").catch(() => undefined);
await awaitAllCallbacks();

const request = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans())));
const spans = request.resourceSpans.flatMap((part) => part.scopeSpans.flatMap((scope) => scope.spans));
for (const span of spans) {
  const events = span.events.map((event) => event.attributes.find((pair) => pair.key === "exception.message").value);
  for (const said of events) said.stringValue = said.stringValue.split("\n")[0]; // a stack trace follows
  if (span.status.message) span.status.message = span.status.message.split("\n")[0];
}
writeFileSync(`${process.argv[2]}/openinference_langchain_js.json`, JSON.stringify(request, null, 1) + "\n");
for (const span of spans) {
  console.log(span.name, JSON.stringify(span.attributes.map((pair) => [pair.key, Object.values(pair.value)[0]])));
}
