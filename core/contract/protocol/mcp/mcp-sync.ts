import * as v from 'valibot';
import { capabilityTypes, mcpServerDocument } from './mcp.ts';

/** Path of a gateway on which the control plane asks what an MCP server offers. */
export const mcpInspectionPath = '/internal/mcp-inspections';

/** Maximum milliseconds of an inspection. Requests of the control plane end after 2.8 s. */
export const mcpInspectionMs = 2_000;

/** Maximum number of capabilities of one server. */
export const capabilitiesMax = 2_000;

const text = v.pipe(v.string(), v.maxLength(2_048));
/** A server may send more. Its other facts are still valid, so the text is cut. */
const longText = v.pipe(
  v.string(),
  v.transform((sent) => sent.slice(0, 65_536)),
);

/** The facts that a server reports about itself. */
export const serverInfo = v.object({
  name: v.optional(text),
  version: v.optional(text),
  title: v.optional(text),
  description: v.optional(longText),
  website_url: v.optional(text),
  icons: v.optional(v.array(v.unknown())),
  protocol_version: v.optional(text),
  capabilities: v.optional(v.record(v.string(), v.unknown())),
  instructions: v.optional(longText),
});
export type McpServerInfo = v.InferOutput<typeof serverInfo>;

const syncedCapability = v.object({
  type: v.picklist(capabilityTypes),
  /** Name of a tool or prompt, URI of a resource, URI template of a template. */
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(2_048)),
  /** As the server sent it. */
  definition: v.record(v.string(), v.unknown()),
});
export type SyncedCapability = v.InferOutput<typeof syncedCapability>;

/** `lists` false: only the opening exchange. */
export const mcpInspection = v.object({ document: mcpServerDocument, lists: v.boolean() });

export const mcpInspectionReply = v.object({
  /** Null if the server could be asked. */
  error: v.nullable(v.string()),
  /** Status of the last reply of the server; null if there was none. */
  status: v.nullable(v.number()),
  durationMs: v.number(),
  info: v.nullable(serverInfo),
  capabilities: v.array(syncedCapability),
});
export type McpInspectionReply = v.InferOutput<typeof mcpInspectionReply>;
