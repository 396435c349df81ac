import { LRUCache } from 'lru-cache';
import * as v from 'valibot';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import { type ModelRates, type PricedCall, ratesReply } from '../contract/protocol/limits/leases.ts';
import { storableText } from '../contract/values/json/storable-json.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import { cutText } from '../contract/values/text/cut-text.ts';
import type { Clock } from '../contract/values/time/clock.ts';

/** Time for which a price is cached. Prices here serve estimates only: the control plane computes the billed amount. */
const freshMs = 300_000;
/** Maximum number of models, because callers choose the names. */
const entriesMax = 5_000;
const timeoutMs = 2_500;
/** Records have models of at most this length, and their prices. A longer name does not fit into the address of the question. */
const modelCharsMax = 255;

/** The rates of a model; null if it has no price. */
interface Priced {
  readonly rates: ModelRates | null;
}

/** Returns prices of models from the control plane, each requested once. Rejects if the control plane could not be reached. */
export function createPriceBook(fetch: InternalFetch, clock: Clock): (call: PricedCall) => Maybe<ModelRates | null> {
  const known = new LRUCache<string, Priced, PricedCall>({
    max: entriesMax,
    ttl: freshMs,
    ttlResolution: 0,
    perf: { now: () => clock.elapsed() },
    fetchMethod: async (_key, _old, { context }) => ({ rates: await ask(context) }),
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    // A request that waits gets its price even if the entry is evicted meanwhile.
    ignoreFetchAbort: true,
  });

  return (call) => {
    const model = cutText(call.model, modelCharsMax);
    const key = `${call.workspaceId} ${call.slug ?? ''} ${call.provider} ${model}`;
    const fresh = known.get(key);
    return fresh ? fresh.rates : current(key, { ...call, model });
  };

  async function current(key: string, call: PricedCall): Promise<ModelRates | null> {
    try {
      return (await known.forceFetch(key, { context: call })).rates;
    } catch (thrown) {
      // An outdated price is better than none.
      const old = known.peek(key, { allowStale: true });
      if (old) return old.rates;
      throw thrown;
    }
  }

  async function ask(call: PricedCall): Promise<ModelRates | null> {
    const query = new URLSearchParams({
      workspace: call.workspaceId,
      provider: call.provider,
      model: storableText(call.model),
    });
    if (call.slug !== null) query.set('slug', call.slug);
    const reply = await fetch('GET', `${internalPaths.rates}?${query}`, null, timeoutMs);
    if (reply.status !== 200) throw new Error(`the control plane replied with ${reply.status}`);
    return v.parse(ratesReply, JSON.parse(new TextDecoder().decode(reply.body))).rates;
  }
}
