import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Beta features that Vertex AI and bedrock-mantle do not have. They reject a call with one of them, and clients such as Claude Code send every feature
 * that Anthropic's own platform has. Compared with https://github.com/BerriAI/litellm/blob/main/litellm/anthropic_beta_headers_config.json on 2026-11-29.
 */
const missing =
  /^(advisor-tool|cache-diagnosis|code-execution|extended-cache-ttl|fast-mode|files-api|managed-agents|mcp-client|mcp-servers|message-batches|message-threads|oauth|prompt-caching|redact-thinking|skills|web-fetch)-/;

/** Features with another name there. */
const renamed: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']]);

/**
 * Adds the client's `anthropic-beta` as these clouds accept it to the calls that `isClaude` selects, and reports the changes. The adapter must
 * not forward the header.
 */
export function withCloudBetas(operation: Operation, isClaude: (call: OperationCall) => boolean = () => true): Operation {
  return { ...operation, headers: (call) => (isClaude(call) ? betaHeader(call) : []) };
}

function betaHeader(call: OperationCall): HeaderList {
  const sent = (call.header?.('anthropic-beta') ?? '').split(',').map((name) => name.trim());
  const names = new Set<string>();
  for (const name of sent) {
    const known = renamed.get(name) ?? name;
    if (missing.test(name)) noteOnce(call.dropped, `anthropic-beta:${name}`);
    else if (name !== '') names.add(known);
    if (known !== name) noteOnce(call.adapted, `anthropic-beta:${name}`);
  }
  return names.size === 0 ? [] : ['anthropic-beta', [...names].join(',')];
}
