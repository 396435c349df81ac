import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { withoutThread } from '../../formats/anthropic/threads.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';

/** The version of the Messages API as Vertex AI names it (https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai). */
const version = 'vertex-2023-10-16';

/**
 * An operation of the Messages API by rawPredict. The model moves from the body to the path, the version from a header to the
 * body. Beta features stay in their header, under the names of this platform.
 */
export function overRawPredict(operation: Operation): Operation {
  return {
    ...operation,
    path: (call) => claudePath(call, `:${call.stream ? 'streamRawPredict' : 'rawPredict'}`),
    headers: betaHeader,
    toProvider(params, call) {
      const { model: _model, ...body } = withoutThread(operation.toProvider?.(params, call) ?? params, call);
      return { anthropic_version: version, ...body };
    },
  };
}

/**
 * Beta features that Vertex AI does not have. It rejects a call with one of them, and clients such as Claude Code send every feature that
 * Anthropic's own platform has. Compared with https://github.com/BerriAI/litellm/blob/main/litellm/anthropic_beta_headers_config.json on 2026-11-29.
 */
const missing =
  /^(advisor-tool|cache-diagnosis|code-execution|extended-cache-ttl|fast-mode|files-api|managed-agents|mcp-client|mcp-servers|message-batches|message-threads|oauth|prompt-caching|redact-thinking|skills|web-fetch)-/;

/** Features with another name here. */
const renamed: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']]);

/** Returns the client's `anthropic-beta` as Vertex AI accepts it. Empty if nothing changes: the header is then forwarded. */
function betaHeader(call: OperationCall): HeaderList {
  const sent = (call.header?.('anthropic-beta') ?? '').split(',').map((name) => name.trim());
  if (!sent.some((name) => missing.test(name) || renamed.has(name))) return [];
  for (const name of sent) {
    if (missing.test(name)) noteOnce(call.dropped, `anthropic-beta:${name}`);
    else if (renamed.has(name)) noteOnce(call.adapted, `anthropic-beta:${name}`);
  }
  const names = sent.filter((name) => !missing.test(name)).map((name) => renamed.get(name) ?? name);
  return names.length === 0 ? [] : ['anthropic-beta', [...new Set(names)].join(',')];
}

/** Token counting has a path of its own, with the model in the body. */
export function overCountTokens(operation: Operation): Operation {
  return {
    ...operation,
    path: (call) => locationPath(call.settings, '/publishers/anthropic/models/count-tokens:rawPredict'),
    toProvider: (params, call): JsonObject => {
      const body = operation.toProvider?.(params, call) ?? params;
      return { anthropic_version: version, ...body, model: vertexModel(call.model).name };
    },
  };
}

function claudePath(call: OperationCall, method: string): string {
  return locationPath(call.settings, vertexModel(call.model).path + method);
}
