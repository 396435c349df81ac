import type { Operation, OperationName } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { eventText } from '../../../../core/contract/values/text/event-text.ts';
import { EventStream } from '../../../../core/pipeline/attempt/event-stream.ts';
import { streamError } from '../../../../core/pipeline/attempt/stream-error.ts';
import { providers } from '../../../../core/providers/index.ts';
import { callOf } from '../contract-suite.ts';
import type { ProviderCase } from './provider-cases.ts';
import type { Format, ModelReply } from './scenarios.ts';
import type { Wire } from './wires/wire.ts';

const operations: Readonly<Record<Format, OperationName>> = {
  chat: 'chatComplete',
  messages: 'messages',
  responses: 'createModelResponse',
};

/** One call as the provider received it, and the reported changes. */
interface Sent {
  readonly path: string;
  readonly body: JsonObject;
  readonly dropped: readonly string[];
  readonly adapted: readonly string[];
}

export interface ProviderFetch {
  /** A fetch for the official clients. It replies as the gateway would, through the adapter, from the provider's response. */
  fetch(url: unknown, init?: { body?: unknown }): Promise<Response>;
  readonly sent: Sent[];
  /** Texts of the replies. */
  readonly replies: string[];
  /** Names reported for each reply, in its headers or after its last event. */
  readonly notes: { readonly dropped: readonly string[]; readonly adapted: readonly string[] }[];
}

/** `fault`: the stream ends after this number of events with the provider's error event. */
export function providerFetch(
  provider: ProviderCase,
  format: Format,
  responses: readonly ModelReply[],
  options: { strict?: boolean; faultAfter?: number } = {},
): ProviderFetch {
  const adapter = providers.get(provider.id);
  const operation = adapter?.operations[operations[format]];
  if (!operation) throw new Error(`${provider.id} serves no ${format} calls`);
  const wire = provider.wires[format];
  const sent: Sent[] = [];
  const replies: string[] = [];
  const notes: ProviderFetch['notes'] = [];
  const note = (call: ReturnType<typeof callOf>): void => {
    const ofReply = (name: string): boolean => name.startsWith('reply.');
    notes.push({ dropped: call.dropped.filter(ofReply).sort(), adapted: call.adapted.filter(ofReply).sort() });
  };
  return {
    sent,
    replies,
    notes,
    async fetch(_url, init) {
      const params: JsonObject = JSON.parse(String(init?.body));
      const call = callOf(params, { strict: options.strict ?? true, settings: { ...provider.settings } }, {});
      const response = (responses[sent.length] ?? responses.at(-1)) as ModelReply;
      try {
        const body = operation.toProvider?.(params, call) ?? params;
        sent.push({
          path: operation.path(call),
          body: structuredClone(body),
          dropped: [...call.dropped],
          adapted: [...call.adapted],
        });
        if (!call.stream) {
          const reply = wire.plain(response);
          const text = JSON.stringify(operation.fromProvider?.(reply, call) ?? reply);
          replies.push(text);
          note(call);
          return new Response(text, { headers: { 'content-type': 'application/json' } });
        }
        const events = wire.stream(response);
        const text = streamed(operation, wire, cut(events, wire, options.faultAfter), call, format);
        replies.push(text);
        note(call);
        return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown;
        const error = { message: thrown.message, type: 'invalid_request_error', param: thrown.param, code: thrown.code };
        return new Response(JSON.stringify({ type: 'error', error }), { status: thrown.status });
      }
    },
  };
}

function cut(events: readonly StreamEvent[], wire: Wire, faultAfter: number | undefined): readonly StreamEvent[] {
  return faultAfter === undefined ? events : [...events.slice(0, faultAfter), wire.fault];
}

/** The bytes that the client receives, written as in the pipeline. */
function streamed(
  operation: Operation,
  wire: Wire,
  events: readonly StreamEvent[],
  call: ReturnType<typeof callOf>,
  format: Format,
): string {
  const bytes = wire.frames?.(events) ?? Buffer.from(events.map(({ data, event }) => eventText(data, event)).join(''));
  const reader = operation.streamReader();
  const translator = operation.translateStream?.(call) ?? null;
  const stream = new EventStream(reader, translator, operation.decodeStream);
  const text = stream.push(bytes);
  const owed = stream.end();
  const shown = translator === null ? bytes.toString('utf8') : text;
  const error = reader.error?.() ?? (reader.complete() ? null : new GatewayError('stream_incomplete'));
  if (error === null) return shown + owed;
  return reader.error?.() ? shown : shown + streamError(error, format);
}

/** Parsed `data:` lines of a stream. */
export function eventsIn(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): unknown => JSON.parse(line.slice('data: '.length)))
    .filter(isObject);
}
