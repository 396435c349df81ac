import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Timers } from '../../../core/contract/values/time/timers.ts';
import {
  createHarness,
  type FakeSink,
  type Harness,
  providerDocument,
  type Script,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';
import { inferenceCalls } from './strategy-matrix/requests.ts';

/**
 * Every mode × retry × behaviour of the first target × kind of call × time at which the client disconnects. `expectedOf` computes
 * the expected result from the rules in plugins/strategies/README.md, without the code. Target `one` fails each time it is called,
 * target `two` replies.
 */
const one = { provider: '@one', name: 'one' };
const two = { provider: '@two', name: 'two' };
const balance = (algorithm: string) => (first: JsonObject) => ({
  strategy: { mode: 'loadbalance', algorithm },
  targets: [algorithm === 'priority_capacity' ? { ...first, capacity: { in_flight: 9 } } : first, two],
});
/** Algorithms that select one target, and then run the same code. They share the rows of the table. */
const algorithms = ['weighted', 'round_robin', 'least_latency', 'least_busy', 'priority_capacity'];
const conditions = [{ query: { 'metadata.to': 'one' }, then: 'one' }];

/** The config of each mode, the position of target one, and the target after a failure. */
const modes: Record<string, { config: (first: JsonObject) => JsonObject; at: string; next: string | null }> = {
  single: { config: (first) => ({ strategy: { mode: 'single' }, targets: [first, two] }), at: 'config.targets[0]', next: null },
  fallback: {
    config: (first) => ({ strategy: { mode: 'fallback' }, targets: [first, two] }),
    at: 'config.targets[0]',
    next: 'config.targets[1]',
  },
  ...Object.fromEntries(algorithms.map((name) => [name, { config: balance(name), at: 'config.targets[0]', next: null }])),
  conditional: {
    config: (first) => ({ strategy: { mode: 'conditional', conditions, default: 'two' }, targets: [two, first] }),
    at: 'config.targets[1]',
    next: null,
  },
  nested: {
    config: (first) => ({ strategy: { mode: 'fallback' }, targets: [balance('weighted')(first), two] }),
    at: 'config.targets[0].targets[0]',
    next: 'config.targets[1]',
  },
};
const retries: Record<string, JsonObject | null> = {
  'no retry': null,
  'a retry': { attempts: 1 },
  'a retry as late as asked': { attempts: 1, use_retry_after_header: true },
};
type Behaviour = number | 'not reached' | 'cut before' | 'cut after';
const behaviours: Behaviour[] = [200, 400, 408, 429, 500, 'not reached', 'cut before', 'cut after'];
const leavings = ['stays', 'leaves before', 'leaves during'] as const;
type Leaving = (typeof leavings)[number];
type Kind = keyof typeof inferenceCalls;
const kinds = Object.keys(inferenceCalls) as Kind[];

const retryAfterMs = 2000;
const retried = [429, 500, 502];

interface Seen {
  readonly asked: readonly string[];
  readonly attempts: readonly (readonly [string, number])[];
  readonly outcome: string;
  /** Null: the client has disconnected and reads nothing. */
  readonly reply: { status: number; end: 'whole' | 'told' | 'cut'; index: string; retryCount: string; body: boolean } | null;
  readonly waitsMs: readonly number[];
}

/** The rules of plugins/strategies/README.md, written a second time. */
function expectedOf(mode: keyof typeof modes, retry: JsonObject | null, does: Behaviour, kind: Kind, leaving: Leaving): Seen {
  const { at, next } = modes[mode] as (typeof modes)[string];
  const sendsHead = typeof does === 'number' || does === 'cut after';
  if (leaving === 'leaves before' || (leaving === 'leaves during' && sendsHead)) {
    return { asked: ['one'], attempts: [[at, 499]], outcome: 'aborted', reply: null, waitsMs: [] };
  }
  const isPiped = kind === 'events' || kind === 'pass-through';
  if (does === 'cut after' && isPiped) {
    const end = kind === 'events' ? 'told' : 'cut';
    return {
      asked: ['one'],
      attempts: [[at, 200]],
      outcome: 'cut',
      reply: { status: 200, end, index: at, retryCount: '0', body: true },
      waitsMs: [],
    };
  }
  const status = typeof does === 'number' ? does : 502;
  const again = retry !== null && retried.includes(status);
  const tries = again ? 2 : 1;
  const movesOn = status !== 200 && next !== null;
  const waitMs = status === 429 && retry?.use_retry_after_header === true ? retryAfterMs : 0;
  const attempts: [string, number][] = Array.from({ length: tries }, () => [at, status]);
  if (movesOn) attempts.push([next, 200]);
  const isGood = status === 200 || movesOn;
  return {
    asked: [...Array.from({ length: tries }, () => 'one'), ...(movesOn ? ['two'] : [])],
    attempts,
    outcome: isGood ? 'success' : 'failed',
    reply: {
      status: isGood ? 200 : status,
      end: 'whole',
      index: movesOn ? next : at,
      retryCount: again && !movesOn ? '-1' : '0',
      body: isGood,
    },
    waitsMs: again ? [waitMs] : [],
  };
}

const newGateway = (timers: Timers): Harness => {
  const gateway = createHarness({ random: () => 0, timers });
  const document = providerDocument('two', 'openai');
  gateway.documents.set(`provider ${workspaceId}/two`, { ...document, settings: { custom_host: 'https://two.example/v1' } });
  return gateway;
};

async function seenOf(
  mode: keyof typeof modes,
  retry: JsonObject | null,
  does: Behaviour,
  kind: Kind,
  leaving: Leaving,
): Promise<Seen> {
  const { request, good, contentType } = inferenceCalls[kind];
  const waitsMs: number[] = [];
  // Timers that fire in the next turn and record their delay.
  const gateway = newGateway({
    after(delayMs, callback) {
      waitsMs.push(delayMs);
      const next = setImmediate(callback);
      return () => clearImmediate(next);
    },
  });
  const asked: string[] = [];
  let sink: FakeSink | null = null;
  const script: Script = (call, handler) => {
    const name = call.origin === 'https://two.example' ? 'two' : 'one';
    asked.push(name);
    if (leaving === 'leaves before') return sink?.leave();
    const status = name === 'two' ? 200 : does;
    if (status === 'not reached') return handler.onError(new GatewayError('upstream_connect'));
    if (status === 'cut before') return handler.onError(new GatewayError('upstream_reset'));
    const isGood = status === 200 || status === 'cut after';
    const chunks = isGood ? good : ['{"error":', '{"message":"no"}}'];
    const retryAfter = status === 429 ? ['retry-after-ms', String(retryAfterMs)] : [];
    handler.onHead(isGood ? 200 : (status as number), ['content-type', isGood ? contentType : 'application/json', ...retryAfter]);
    for (const [index, chunk] of chunks.entries()) {
      handler.onData(Buffer.from(chunk));
      if (index > 0 || name === 'two') continue;
      if (leaving === 'leaves during') sink?.leave();
      if (status === 'cut after') return handler.onError(new GatewayError('upstream_reset'));
    }
    handler.onEnd();
  };
  gateway.script(script);
  const config = (modes[mode] as (typeof modes)[string]).config(retry ? { ...one, retry } : one);
  const given = await gateway.send({
    ...request,
    headers: {
      ...('headers' in request ? request.headers : undefined),
      'x-svc-config': JSON.stringify(config),
      'x-svc-metadata': '{"to":"one"}',
    },
    prepare: (opened) => {
      sink = opened;
    },
  });
  // The record is written when the client disconnects. A later attempt would be sent now.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  const [record] = gateway.records;
  expect(gateway.records).toHaveLength(1);
  if (given.aborted) expect(gateway.aborted).toHaveLength(1);
  return {
    asked,
    attempts: record?.attempts.map((each) => [each.targetPath, each.status] as const) ?? [],
    outcome: record?.outcome ?? '',
    reply: given.aborted ? null : replyOf(given, good.join('')),
    waitsMs,
  };
}

function replyOf(sink: FakeSink, good: string): NonNullable<Seen['reply']> {
  return {
    status: sink.status,
    end: sink.destroyed ? 'cut' : /"code":\s*"upstream_reset"/.test(sink.text) && sink.status === 200 ? 'told' : 'whole',
    index: sink.header('x-svc-last-used-option-index') ?? '',
    retryCount: sink.header('x-svc-retry-attempt-count') ?? '',
    body:
      sink.status === 200 && (sink.text.startsWith(good) || good.startsWith(sink.text) || sink.text.includes('upstream_reset')),
  };
}

/**
 * Returns true if this mode runs the row with this number. Algorithms take the rows in turn: each runs a fifth, which holds every
 * retry, behaviour, kind and disconnect. With LONG_TESTS each runs all.
 */
function takes(mode: string, row: number): boolean {
  const at = algorithms.indexOf(mode);
  return at === -1 || process.env.LONG_TESTS !== undefined || row % algorithms.length === at;
}

describe.each(Object.keys(modes))('%s', (mode) => {
  describe.each(Object.entries(retries))('with %s', (_name, retry) => {
    it.each(kinds)('has the same result for every end of a %s call, whether the client stays or leaves', async (kind) => {
      // A row keeps its number in every mode, so that the algorithms together run all rows.
      let row = Object.values(retries).indexOf(retry) + kinds.indexOf(kind);
      for (const does of behaviours) {
        for (const leaving of leavings) {
          if (!takes(mode, row++)) continue;
          const seen = await seenOf(mode, retry, does, kind, leaving);
          expect.soft(seen, `${does}, client ${leaving}`).toEqual(expectedOf(mode, retry, does, kind, leaving));
        }
      }
    });
  });
});
