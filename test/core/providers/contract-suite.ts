import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  type Operation,
  type OperationCall,
  type OperationName,
  operationNames,
  type ProviderAdapter,
  type ProviderSettings,
} from '../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../core/contract/provider/stream-event.ts';
import type { FormPart } from '../../../core/contract/values/bodies/form.ts';
import { Secret } from '../../../core/contract/values/credentials/secret.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../../../core/contract/values/models/usage.ts';
import { repliesOfEvents, repliesOfReply } from './assemble-reply.ts';
import { eventsOfText } from './event-stream-text.ts';
import { type CallCase, fixturesOf } from './provider-fixtures.ts';
import { isStored, storedContractSuite } from './stored-suite.ts';

export interface ContractOptions {
  /** Settings that every call needs, for example `custom_host` if there is no default. */
  readonly settings?: JsonObject;
  /** The header that carries the credential, by default `authorization: Bearer <key>`. Null if calls are signed. */
  readonly credential?: { readonly header: string; readonly value: (key: string) => string } | null;
  /**
   * Finish reasons of the provider, each with the format's finish reason. Any other must become `stop`.
   * `as-sent`: the provider defines the format.
   */
  readonly finishReasons: 'as-sent' | Readonly<Record<string, string>>;
  /** Returns the part of the provider's body with the caller's fields, if the body wraps them. */
  readonly unwrap?: (operation: OperationName, body: JsonObject) => JsonObject;
  /** Replies that the provider does not support, with the reason: `complete streamed`, `chatComplete calls a tool`. */
  readonly lacks?: Readonly<Record<string, string>>;
  /** For providers that are rows of one folder: that folder, and the fixtures of this row. */
  readonly row?: { readonly folder: string; readonly fixtures: ReturnType<typeof fixturesOf> };
  /** False if its stored resources use the operations of another provider, which has the fixtures. */
  readonly storedShown?: boolean;
}

/**
 * Checks the contract of a provider against its fixtures. Call this once in `test/core/providers/<id>/contract.test.ts`.
 */
export function providerContractSuite(adapter: ProviderAdapter, options: ContractOptions): void {
  const { calls, errors } = options.row?.fixtures ?? fixturesOf(adapter.id);
  const settings = parsedSettings(adapter, options.settings ?? {});

  describe(`provider ${adapter.id}`, () => {
    describe('as a folder', () => {
      const readme = readFileSync(
        join(import.meta.dirname, '../../../core/providers', options.row?.folder ?? adapter.id, 'README.md'),
        'utf8',
      );

      it('explains itself in a dated README', () => {
        expect(readme).toContain(`\`${adapter.id}\``);
        expect(readme).toMatch(/20\d\d-\d\d-\d\d/);
      });

      it('has a fixture for every operation it offers, and offers every operation it has a fixture for', () => {
        const offered = Object.keys(adapter.operations)
          .filter((name) => !isStored(name))
          .sort();
        expect([...new Set(calls.map((call) => call.operation))].sort()).toEqual(offered);
        for (const name of offered) expect(operationNames).toContain(name);
      });

      it('has fixtures of every kind of reply of each operation that talks, and of a refusal', () => {
        const missing = talking.flatMap((name) => {
          const own = calls.filter((call) => call.operation === name);
          const has = {
            plain: own.length > 0,
            streamed: own.some((call) => call.chunks !== null),
            'calls a tool': name === 'complete' || own.some((call) => callsTool(call) && call.chunks !== null),
          };
          const offered = adapter.operations[name] === undefined ? [] : Object.entries(has);
          return offered.flatMap(([kind, isThere]) => (isThere ? [] : [`${name} ${kind}`]));
        });
        expect(missing).toEqual(Object.keys(options.lacks ?? {}));
        expect(errors.length).toBeGreaterThan(0);
      });
    });

    const storedFolder = options.row ? `${options.row.folder}/fixtures/stored/${adapter.id}` : `${adapter.id}/fixtures/stored`;
    if (options.storedShown !== false) storedContractSuite(adapter, storedFolder);

    describe('settings, address and credential', () => {
      it('ignores settings of other providers and refuses a wrong type', () => {
        expect(parsedSettings(adapter, { ...options.settings, svc_unknown_setting: 1 })).toEqual(settings);
        expect(v.safeParse(adapter.settings, { ...options.settings, custom_host: 7 }).success).toBe(false);
      });

      it('has a base URL without a trailing slash', () => {
        expect(adapter.baseUrl(settings)).toMatch(/^[a-z]+:\/\/[^\s]*[^/\s]$/);
      });

      it('puts the credential in its one place and nowhere else', () => {
        const key = 'key-of-the-contract-suite';
        const bearer = { header: 'authorization', value: (text: string) => `Bearer ${text}` };
        const url = options.credential === undefined ? bearer : options.credential;
        const headers = adapter.headers(settings, { api_key: new Secret(key) });
        expect(headers.length % 2).toBe(0);
        expect(pairs(headers).filter(([, text]) => text.includes(key))).toEqual(url ? [[url.header, url.value(key)]] : []);
        for (const [name] of pairs(headers)) expect(name).toBe(name.toLowerCase());
        expect(adapter.baseUrl(settings)).not.toContain(key);
      });

      it('sends no empty credential when there is none', () => {
        for (const [, text] of pairs(adapter.headers(settings, {}))) expect(text).not.toMatch(/^(Bearer\s*)?(undefined|null)?$/);
      });
    });

    describe.each(calls.map((call) => [`${call.operation}, ${call.name}`, call] as const))('%s', (_, fixture) => {
      const operation = adapter.operations[fixture.operation] as Operation;
      const plain = { ...fixture.request };

      it('maps the request', () => {
        const { body, call } = sent(operation, plain, fixture, settings);
        expect(body).toEqual(fixture.providerRequest);
        expect(call.dropped).toEqual(fixture.dropped ?? []);
        expect(call.adapted).toEqual(fixture.adapted ?? []);
        expect(operation.path(call)).toMatch(/^\/[^/]/);
      });

      it('lets unknown request fields through', () => {
        const { body } = sent(operation, { ...plain, svc_unknown: { deep: [1, { field: 'kept' }] } }, fixture, settings);
        const fields = options.unwrap?.(fixture.operation, body) ?? body;
        // Form fields are texts.
        const kept = typeof fields.svc_unknown === 'string' ? JSON.parse(fields.svc_unknown) : fields.svc_unknown;
        expect(kept).toEqual({ deep: [1, { field: 'kept' }] });
      });

      const { providerReply } = fixture;
      if (fixture.repliesBytes) {
        it('passes bytes', () => expect(operation.passesBytes).toBe(true));
        return;
      }

      it('maps the reply', () => {
        expect(received(operation, providerReply, callOf(plain, fixture, settings))).toEqual(fixture.reply);
      });

      it('lets unknown reply fields through', () => {
        const reply = { ...providerReply, svc_unknown: { deep: [1, { field: 'kept' }] } };
        expect(received(operation, reply, callOf(plain, fixture, settings)).svc_unknown).toEqual({
          deep: [1, { field: 'kept' }],
        });
      });

      it('counts tokens', () => {
        expect(counts(operation.usage(frozen(providerReply)))).toEqual(expectedCounts(fixture.usage));
      });

      if (fixture.chunks === null) return;
      const streamed: JsonObject = { ...fixture.request, stream: true, ...fixture.stream?.request };
      const providerEvents = eventsOfText(fixture.chunks);

      it('maps the request of the streamed call', () => {
        const { body, call } = sent(operation, streamed, fixture, settings);
        expect(body).toEqual(fixture.stream?.providerRequest);
        expect(call.dropped).toEqual(fixture.stream?.dropped ?? fixture.dropped ?? []);
        expect(call.adapted).toEqual(fixture.stream?.adapted ?? fixture.adapted ?? []);
      });

      it('streams the same content as the plain reply', () => {
        const events = translated(operation, providerEvents, callOf(streamed, fixture, settings));
        expect(repliesOfEvents(fixture.operation, events)).toEqual(repliesOfReply(fixture.operation, fixture.reply));
        if (fixture.events !== null) expect(events).toEqual(eventsOfText(fixture.events));
      });

      it('counts the same tokens in the stream and knows its end', () => {
        const reader = operation.streamReader();
        expect(reader.complete()).toBe(false);
        providerEvents.forEach((event, index) => {
          reader.push(frozen(event));
          if (index === 0) expect(reader.complete()).toBe(false);
        });
        expect(reader.complete()).toBe(true);
        expect(reader.error?.() ?? null).toBe(null);
        const expected = fixture.stream?.usage === undefined ? fixture.usage : fixture.stream.usage;
        expect(counts(reader.usage())).toEqual(expectedCounts(expected));
      });

      it('does not take a stream for complete that was cut before it said how it ends', () => {
        const ending = providerEvents.findIndex((event) => saysHowItEnds(event.data));
        expect(ending).toBeGreaterThan(0);
        const reader = operation.streamReader();
        for (const event of providerEvents.slice(0, ending)) reader.push(frozen(event));
        expect(reader.complete()).toBe(false);
      });

      it('reads on past events it does not know', () => {
        const strange: StreamEvent[] = [
          { event: null, data: 'not json' },
          { event: 'svc-unknown', data: { type: 'svc-unknown', choices: 'none', delta: 7, usage: 'none' } },
        ];
        const events = translated(operation, [...strange, ...providerEvents], callOf(streamed, fixture, settings));
        expect(repliesOfEvents(fixture.operation, events)).toEqual(repliesOfReply(fixture.operation, fixture.reply));
        const reader = operation.streamReader();
        for (const event of [...strange, ...providerEvents]) reader.push(event);
        expect(reader.complete()).toBe(true);
      });
    });

    describe.each(errors.map((error) => [error.name, error] as const))('refusal %s', (_, fixture) => {
      it('keeps what the provider said', () => {
        const headers = Object.entries(fixture.headers ?? {}).flat();
        const error = adapter.error(fixture.status, frozen(fixture.body), headers);
        expect(error).toEqual(fixture.fault);
        expect(error.message).toMatch(new RegExp(`^${adapter.id} error: .`));
      });
    });

    it('describes a refusal that says nothing', () => {
      const error = adapter.error(503, null, ['retry-after', '7']);
      expect(error.message).toMatch(new RegExp(`^${adapter.id} error: .*503`));
      expect(error.retryAfterMs).toBe(7_000);
    });

    const chat = calls.find((call) => call.operation === 'chatComplete' && call.chunks !== null);
    const operation = adapter.operations.chatComplete;
    if (!chat || !operation) return;
    const reasons = options.finishReasons === 'as-sent' ? { svc_new_reason: 'svc_new_reason' } : options.finishReasons;
    const table = options.finishReasons === 'as-sent' ? reasons : { ...reasons, svc_new_reason: 'stop' };

    it.each(Object.entries(table))('finish reason %s becomes %s, plain and streamed', (native, mapped) => {
      const reply = withFinishReason(chat.providerReply, native) as JsonObject;
      const ends = repliesOfReply('chatComplete', received(operation, reply, callOf(chat.request, chat, settings)));
      expect(ends[0]?.finish).toBe(mapped);
      const events = withFinishReason(eventsOfText(chat.chunks as string), native) as StreamEvent[];
      const streamed = { ...chat.request, stream: true, ...chat.stream?.request };
      expect(repliesOfEvents('chatComplete', translated(operation, events, callOf(streamed, chat, settings)))[0]?.finish).toBe(
        mapped,
      );
    });
  });
}

/** Operations whose replies are generated text. */
const talking = ['chatComplete', 'complete', 'messages', 'createModelResponse'] as const;

function callsTool(fixture: CallCase): boolean {
  return (repliesOfReply(fixture.operation, fixture.reply)[0]?.toolCalls.length ?? 0) > 0;
}

function parsedSettings(adapter: ProviderAdapter, input: JsonObject): ProviderSettings {
  return v.parse(adapter.settings, input);
}

/** A call with a fixed clock and fixed ids, so that golden replies can contain them: `1760000000`, `<prefix>1`, `<prefix>2`. */
export function callOf(
  params: JsonObject,
  about: Pick<CallCase, 'strict' | 'settings' | 'form'>,
  base: JsonObject,
): OperationCall {
  let ids = 0;
  return {
    model: typeof params.model === 'string' ? params.model : '',
    stream: params.stream === true,
    params,
    ...(about.form ? { form: about.form.map(partOf) } : {}),
    settings: { ...base, ...about.settings },
    strict: about.strict ?? true,
    dropped: [],
    adapted: [],
    nowSeconds: 1_760_000_000,
    newId: (prefix) => `${prefix}${++ids}`,
  };
}

function sent(operation: Operation, params: JsonObject, fixture: CallCase, settings: JsonObject) {
  const call = callOf(frozen(params), fixture, settings);
  const content = operation.toContent?.(call.params, call) ?? null;
  if (content?.kind === 'json') return { body: content.body, call };
  if (content?.kind === 'form') return { body: writtenForm(content.parts), call };
  return { body: operation.toProvider?.(call.params, call) ?? call.params, call };
}

/** A part of a fixture's form: a file if it has base64, otherwise a text field. */
function partOf(part: NonNullable<CallCase['form']>[number]): FormPart {
  const body = part.base64 === undefined ? Buffer.from(part.text ?? '') : Buffer.from(part.base64, 'base64');
  return { name: part.name, filename: part.filename ?? null, contentType: part.contentType ?? null, body };
}

/** A sent form in the notation of fixtures: fields by name (JSON parsed), files as `<file name, type, base64>`. */
function writtenForm(parts: readonly FormPart[]): JsonObject {
  return Object.fromEntries(
    parts.map(({ name, filename, contentType, body }) => [
      name,
      filename === null
        ? fieldOf(Buffer.from(body).toString())
        : `<${filename}, ${contentType}, ${Buffer.from(body).toString('base64')}>`,
    ]),
  );
}

function fieldOf(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : text;
}

function received(operation: Operation, reply: JsonObject, call: OperationCall): JsonObject {
  return operation.fromProvider?.(frozen(reply), call) ?? reply;
}

/** The client's events for these events of the provider. */
export function translated(operation: Operation, events: readonly StreamEvent[], call: OperationCall): StreamEvent[] {
  const translator = operation.translateStream?.(call) ?? null;
  if (translator === null) return [...events];
  return [...events.flatMap((event) => translator.push(frozen(event))), ...translator.end()];
}

function counts(usage: Usage | null): Omit<Usage, 'raw'> | null {
  if (usage === null) return null;
  const { raw: _, ...rest } = usage;
  return rest;
}

function expectedCounts(usage: Partial<Usage> | null): Omit<Usage, 'raw'> | null {
  return usage === null ? null : counts({ ...emptyUsage(), ...usage });
}

function pairs(headers: HeaderList): [string, string][] {
  return Array.from({ length: headers.length / 2 }, (_, i) => [headers[2 * i] as string, headers[2 * i + 1] as string]);
}

/** Fields in which formats state how a reply ended. */
const endingKeys: ReadonlySet<string> = new Set(['finish_reason', 'stop_reason', 'finishReason', 'stopReason']);

/** True for an event that states an end, in one of `endingKeys` or as the terminal event of a response. */
function saysHowItEnds(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(saysHowItEnds);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => {
    if (endingKeys.has(key)) return typeof item === 'string';
    if (key === 'type' && typeof item === 'string') return /^response\.(completed|incomplete|failed)$/.test(item);
    return saysHowItEnds(item);
  });
}

/** A copy with every stated end (`endingKeys`) replaced by this word. */
function withFinishReason(value: unknown, native: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withFinishReason(item, native));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      endingKeys.has(key) && typeof item === 'string' ? [key, native] : [key, withFinishReason(item, native)],
    ),
  );
}

/** Mapping functions are pure, so writing to their input throws. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) frozen(item);
    Object.freeze(value);
  }
  return value;
}
