import type { JsonObject } from '../../contract/values/json/json.ts';
import type { ClientMessage } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';

/** A server whose items are missing in a list. */
export interface MissingServer {
  readonly server: string;
  readonly reason: string;
}

/** The tools that a caller may use. */
export interface Listing {
  readonly tools: readonly JsonObject[];
  /** Servers that could not be asked in time. */
  readonly missing: readonly MissingServer[];
}

/** The tools behind one endpoint for one caller, listed by the gateway itself. */
export interface ToolSource {
  list(): Promise<Listing>;
  /** Sends a `tools/call` to where the tool is. Throws RpcError -32602 for a tool that the caller may not use. */
  call(message: ClientMessage): Promise<AttemptReply>;
}

/** Returns `_meta` of a list that is not complete; null if it is. */
export function partialMeta({ missing }: Pick<Listing, 'missing'>): JsonObject | null {
  return missing.length === 0 ? null : { 'svc-gateway/missing_servers': missing };
}
