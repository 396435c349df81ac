import { GatewayError } from '../../values/errors/errors.ts';
import { findHeader } from '../../values/http/http.ts';
import { parseObject } from '../../values/json/json.ts';
import { isEventStream } from '../../values/text/event-text.ts';
import type { AttemptResponse, Hooks, ReplyHead, Services } from '../plugin.ts';
import type { PluginContext } from '../plugin-context.ts';
import { rewriteBody } from './rewrite-body.ts';
import { createEventRewriter } from './rewrite-events.ts';
import { StreamRewriter } from './rewrite-stream.ts';
import type { TextFormat, TextRewriter } from './text-rewriter.ts';

type RewriteChunk = (chunk: Uint8Array) => Uint8Array | null;

/**
 * Returns hooks that rewrite the text of the model in replies of chat completions, completions, messages and responses, plain or streamed.
 * `start` is called for each text of a reply: each choice, content block and output part; null leaves the replies of this request as they
 * are. Tool calls, reasoning and other members stay. The plugin needs `reads: { response: 'chunks' }` and the stage `output-guardrails`, because the
 * cache stores changes of later stages only.
 */
export function rewriteText(
  services: Pick<Services, 'slot'>,
  start: (ctx: PluginContext) => TextRewriter | null,
): Required<Pick<Hooks, 'onReply' | 'onChunk'>> {
  const slot = services.slot<RewriteChunk>();
  return {
    onReply(ctx, head) {
      const rewrite = chunkRewriter(ctx, head, start);
      if (rewrite) slot.set(ctx, rewrite);
    },
    onChunk(ctx, chunk) {
      const rewrite = slot.get(ctx);
      return rewrite ? rewrite(chunk) : chunk;
    },
  };
}

/**
 * Returns the texts of the model in a response for `onAttemptResponse`: each choice, content block and output part as one text, also if a stream
 * splits it over many events. The whole body is the only text of other routes, and of a body that cannot be read. Empty for `body: null`.
 */
export function replyTexts(ctx: PluginContext, { status, headers, body }: AttemptResponse): string[] {
  if (body === null) return [];
  const texts: string[] = [];
  try {
    const read = chunkRewriter(ctx, { status, headers: [...headers] }, () => collector(texts));
    if (read === null) return [Buffer.from(body).toString()];
    read(body);
    return texts;
  } catch {
    return [Buffer.from(body).toString()];
  }
}

/** Leaves a text as it is, and adds it to the list. */
function collector(texts: string[]): TextRewriter {
  let at = -1;
  return {
    next(piece) {
      if (at === -1) at = texts.push('') - 1;
      texts[at] += piece;
      return piece;
    },
    end: () => '',
  };
}

const operations: ReadonlySet<string> = new Set([
  'chatComplete',
  'complete',
  'messages',
  'createModelResponse',
  'getModelResponse',
]);

function chunkRewriter(
  ctx: PluginContext,
  { status, headers }: ReplyHead,
  start: (ctx: PluginContext) => TextRewriter | null,
): RewriteChunk | null {
  const { operation, format } = ctx.endpoint ?? {};
  if (!operation || !operations.has(operation) || format === undefined || format === 'plain' || status >= 300) return null;
  const first = start(ctx);
  if (first === null) return null;
  if ((findHeader(headers, 'content-encoding') ?? 'identity') !== 'identity')
    throw new GatewayError('upstream_invalid', { message: 'The reply is compressed, so that its text cannot be rewritten' });
  let unused: TextRewriter | null = first;
  const startText = (): TextRewriter => {
    const rewriter = unused ?? start(ctx) ?? asItIs;
    unused = null;
    return rewriter;
  };
  const isStream = isEventStream(findHeader(headers, 'content-type'));
  if (!isStream) return (chunk) => rewriteJson(format, chunk, startText);
  const stream = new StreamRewriter(createEventRewriter(format, startText));
  return (chunk) => stream.next(chunk);
}

/** A plain reply is one chunk. */
function rewriteJson(format: TextFormat, chunk: Uint8Array, start: () => TextRewriter): Uint8Array {
  if (chunk.length === 0) return chunk;
  const body = parseObject(Buffer.from(chunk).toString());
  if (body === null)
    throw new GatewayError('upstream_invalid', { message: 'The reply is not JSON, so that its text cannot be rewritten' });
  rewriteBody(format, body, start);
  return Buffer.from(JSON.stringify(body));
}

const asItIs: TextRewriter = { next: (piece) => piece, end: () => '' };
