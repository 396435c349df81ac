import type { OperationCall, OutgoingCall } from '../../../contract/provider/provider.ts';
import { parseObject } from '../../../contract/values/json/json.ts';

/**
 * Beta features that InvokeModel has. It rejects a call with any other ("invalid beta flag"), and clients such as Claude Code send every feature
 * that Anthropic's own platform has. Compared with https://github.com/BerriAI/litellm/blob/main/litellm/anthropic_beta_headers_config.json and
 * https://github.com/anthropics/claude-code/issues/49370 on 2026-11-29.
 */
const known: ReadonlySet<string> = new Set([
  ...['computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24', 'context-1m-2025-08-07'],
  ...['context-management-2025-06-27', 'compact-2026-01-12', 'compact-2026-09-04', 'dangerous-tool-use-2026-09-03'],
  ...['dev-full-thinking-2025-05-14', 'effort-2025-11-24', 'fine-grained-tool-streaming-2025-05-14'],
  ...['interleaved-thinking-2025-05-14', 'mid-conversation-output-config-2026-07-01', 'mid-conversation-tool-changes-2026-07-01'],
  ...['output-128k-2025-02-19', 'thinking-binding-controls-2026-08-01', 'thinking-display-updates-2026-08-18'],
  ...['token-efficient-tools-2025-02-19', 'tool-examples-2025-10-29', 'tool-search-tool-2025-10-19'],
]);

/** Features with another name here. */
const renamed: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']]);

/** Returns the beta features of a call to Claude: those of the settings, then those of the client's `anthropic-beta` header. */
export function betasOf(call: Pick<OperationCall, 'settings' | 'header' | 'dropped' | 'adapted'>): string[] {
  const sent = listOf(call.header?.('anthropic-beta'));
  for (const name of sent) {
    if (renamed.has(name)) call.adapted.push(`anthropic-beta:${name}`);
    else if (!known.has(name)) call.dropped.push(`anthropic-beta:${name}`);
  }
  return [...new Set([...listOf(call.settings.anthropic_beta), ...knownOf(sent)])];
}

function knownOf(sent: readonly string[]): string[] {
  return sent.map((name) => renamed.get(name) ?? name).filter((name) => known.has(name));
}

/**
 * On this platform beta features are a field of the body. The client's header is converted to it, also on pass-through calls of
 * Claude.
 */
export function withBetasInBody(call: OutgoingCall, client: { header(name: string): string | undefined }): void {
  const betas = knownOf(listOf(client.header('anthropic-beta')));
  if (betas.length === 0 || call.body === null || !/^\/model\/[^/]*anthropic[^/]*\/invoke/.test(call.path)) return;
  const body = parseObject(call.body);
  if (body === null) return;
  const given = Array.isArray(body.anthropic_beta) ? body.anthropic_beta : [];
  body.anthropic_beta = [...new Set([...given, ...betas])];
  call.body = Buffer.from(JSON.stringify(body));
}

function listOf(...values: readonly unknown[]): string[] {
  const names = values.flatMap((value) => (typeof value === 'string' ? value.split(',') : []));
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
}
