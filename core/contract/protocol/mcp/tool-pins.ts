import { hash } from 'node:crypto';
import * as v from 'valibot';
import { canonicalJson } from '../../values/json/canonical-json.ts';
import type { JsonObject } from '../../values/json/json.ts';
import { capabilitiesMax } from './mcp-sync.ts';

/** The members of a tool on which models and clients base their calls. */
const pinnedMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'] as const;

/** Returns the hash that identifies the definition of a tool: base64url SHA-256 over its canonical JSON. */
export function toolHash(tool: JsonObject): string {
  const pinned = Object.fromEntries(pinnedMembers.map((name) => [name, tool[name]]));
  return hash('sha256', canonicalJson(pinned), 'base64url');
}

const toolName = v.pipe(v.string(), v.minLength(1), v.maxLength(2_048));

/** A gateway reports the tools of a server whose definitions are not approved. */
export const toolReport = v.object({
  organisationId: v.string(),
  integrationId: v.string(),
  tools: v.pipe(v.array(v.looseObject({ name: toolName })), v.minLength(1), v.maxLength(capabilitiesMax)),
});
export type ToolReport = v.InferOutput<typeof toolReport>;
