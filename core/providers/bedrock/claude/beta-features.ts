import type { OperationCall, OutgoingCall } from '../../../contract/provider/provider.ts';
import { parseObject } from '../../../contract/values/json/json.ts';

/**
 * Features of Anthropic's own platform and its clients, by the beginning of their names. InvokeModel returns 400 for them, so
 * they are removed. Otherwise clients that always send them could not use Bedrock.
 */
const ofTheirPlatform =
  /^(claude-code|oauth|files-api|mcp-client|mcp-servers|code-execution|skills|message-batches|prompt-caching-scope)-/;

/** Returns the beta features of a call to Claude: those of the settings, then those of the client's `anthropic-beta` header. */
export function betasOf(call: Pick<OperationCall, 'settings' | 'header' | 'dropped'>): string[] {
  const sent = listOf(call.header?.('anthropic-beta'));
  for (const name of sent) if (ofTheirPlatform.test(name)) call.dropped.push(`anthropic-beta:${name}`);
  return [...new Set([...listOf(call.settings.anthropic_beta), ...sent.filter((name) => !ofTheirPlatform.test(name))])];
}

/**
 * On this platform beta features are a field of the body. The client's header is converted to it, also on pass-through calls of
 * Claude.
 */
export function withBetasInBody(call: OutgoingCall, client: { header(name: string): string | undefined }): void {
  const betas = listOf(client.header('anthropic-beta')).filter((name) => !ofTheirPlatform.test(name));
  if (betas.length === 0 || call.body === null || !/^\/model\/[^/]*anthropic[^/]*\/invoke/.test(call.path)) return;
  const body = parseObject(call.body);
  if (body === null) return;
  const known = Array.isArray(body.anthropic_beta) ? body.anthropic_beta : [];
  body.anthropic_beta = [...new Set([...known, ...betas])];
  call.body = Buffer.from(JSON.stringify(body));
}

function listOf(...values: readonly unknown[]): string[] {
  const names = values.flatMap((value) => (typeof value === 'string' ? value.split(',') : []));
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
}
