import * as v from 'valibot';
import { type InternalFetch, internalPaths } from '../contract/protocol/internal-api.ts';
import { type ModelRates, type PricedCall, ratesReply } from '../contract/protocol/leases.ts';
import type { Clock } from '../contract/values/clock.ts';
import type { Maybe } from '../contract/values/json.ts';

/** How long a price is cached. It serves only for estimates: the control plane computes the billed amount. */
const freshMs = 300_000;
/** Names of models come from callers. */
const entriesMax = 5_000;
const timeoutMs = 1_000;

/** Returns prices of models from the control plane, each requested once. Rejects if the control plane could not be reached. */
export function createPriceBook(fetch: InternalFetch, clock: Clock): (call: PricedCall) => Maybe<ModelRates | null> {
  const known = new Map<string, { readonly atMs: number; readonly rates: ModelRates | null }>();
  const asked = new Map<string, Promise<ModelRates | null>>();

  return (call) => {
    const key = `${call.workspaceId} ${call.slug ?? ''} ${call.provider} ${call.model}`;
    const entry = known.get(key);
    if (entry && clock.elapsed() - entry.atMs < freshMs) return entry.rates;
    let asking = asked.get(key);
    if (!asking) {
      asking = ask(call)
        .then((rates) => {
          if (known.size >= entriesMax) known.delete(known.keys().next().value as string);
          known.delete(key);
          known.set(key, { atMs: clock.elapsed(), rates });
          return rates;
        })
        .finally(() => asked.delete(key));
      asked.set(key, asking);
    }
    // An old price is better than none.
    return entry ? asking.catch(() => entry.rates) : asking;
  };

  async function ask(call: PricedCall): Promise<ModelRates | null> {
    const query = new URLSearchParams({ workspace: call.workspaceId, provider: call.provider, model: call.model });
    if (call.slug !== null) query.set('slug', call.slug);
    const reply = await fetch('GET', `${internalPaths.rates}?${query}`, null, timeoutMs);
    if (reply.status !== 200) throw new Error(`the control plane replied with ${reply.status}`);
    return v.parse(ratesReply, JSON.parse(new TextDecoder().decode(reply.body))).rates;
  }
}
