import type { RequestContext } from '../../contract/plugin/context.ts';
import { promptTexts } from '../../contract/values/prompt-text.ts';
import { emptyUsage, type Usage } from '../../contract/values/usage.ts';
import type { Outgoing } from '../attempt/outgoing-call.ts';
import { isEstimated } from './estimate-usage.ts';

/** Characters of text per token, roughly. */
const charactersPerToken = 4;

/** What there is to see of a reply that did not come to its end. */
export interface Seen {
  /** What the provider has told so far. */
  readonly usage: Usage | null;
  /** Events of its stream. */
  readonly events: number;
  /** As much as there is of a reply that is read whole; null: none. */
  readonly body: Uint8Array | null;
}

/**
 * What a call has used whose reply was not waited for, or broke off, marked as estimated. Providers count at the end: without this
 * whoever leaves just before it would have had the answer for nothing. At once, because the record of such a request waits for
 * nobody: the prompt by its length, one token per event as for whole streams, or by the length of the text that has come. Null where
 * nothing can be said: bytes that are only passed through.
 */
export function unfinishedUsage(
  ctx: RequestContext,
  outgoing: Pick<Outgoing, 'operation' | 'operationCall'>,
  seen: Seen,
): Usage | null {
  if (!isEstimated(ctx)) {
    const usage = seen.usage ?? usageOfCall(outgoing);
    return usage && { ...usage, estimated: true };
  }
  const outputTokens = Math.max(seen.events, seen.body === null ? 0 : Math.ceil(textLength(seen.body) / charactersPerToken));
  const { usage } = seen;
  if (usage === null) return { ...emptyUsage(), inputTokens: promptTokens(ctx), outputTokens, estimated: true };
  return usage.outputTokens >= outputTokens ? usage : { ...usage, outputTokens, estimated: true };
}

/** What the request itself says is billed, where the reply said nothing. */
export function usageOfCall({ operation, operationCall }: Pick<Outgoing, 'operation' | 'operationCall'>): Usage | null {
  return operationCall ? (operation?.usageOfCall?.(operationCall) ?? null) : null;
}

function promptTokens(ctx: RequestContext): number {
  let characters = 0;
  for (const text of promptTexts(ctx.params)) characters += text.length;
  return Math.ceil(characters / charactersPerToken);
}

/** Where a field of a reply begins that holds text the model wrote, in every format. */
const textField = /"(?:content|text|thinking|reasoning|reasoning_content|arguments|refusal)"\s*:\s*"/g;

/** Characters of what the model wrote, in JSON that may end anywhere. */
function textLength(body: Uint8Array): number {
  let length = 0;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  textField.lastIndex = 0;
  while (textField.test(text)) {
    const start = textField.lastIndex;
    textField.lastIndex = endOfText(text, start);
    length += textField.lastIndex - start;
  }
  return length;
}

/** Where the quote stands that ends a text. By hand: an expression for texts of any length needs as much stack as they are long. */
function endOfText(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return text.length;
}

const quote = 34;
const backslash = 92;

/**
 * Estimates the usage of a reply by lengths, at once, if it has none yet. A client that leaves while the tokens are counted, and a verdict
 * that denies the response, do not make it free.
 */
export function countRoughly(ctx: RequestContext, reply: Uint8Array | null): void {
  const seen = { usage: null, events: ctx.streamEvents, body: reply };
  ctx.usage ??= unfinishedUsage(ctx, { operation: null, operationCall: null }, seen);
}
