import { importJWK } from 'jose';
import * as v from 'valibot';
import { type Jwk, jwk } from '../../../../core/contract/plugin/guardrails/token-rules.ts';
import { CallError, callService } from '../call-service.ts';
import type { CheckServices } from '../check.ts';

type Key = Awaited<ReturnType<typeof importJWK>>;

/** Returns the key of a `kid` for an algorithm; null if there is none. Rejects if the keys cannot be read. */
export type FindKey = (kid: string | undefined, algorithm: string) => Promise<Key | null>;

const timeoutMs = 5000;
/** An unknown `kid` triggers a new read at most once in this time. */
const pauseMs = 30_000;

/** The keys of a parameter, or of an address: read once, and again after `cacheMaxAge` seconds or for an unknown `kid`. */
export function createKeys(
  { jwks, jwksUri, cacheMaxAge }: { jwks?: { keys: Jwk[] } | undefined; jwksUri?: string | undefined; cacheMaxAge: number },
  services: CheckServices,
): FindKey {
  let known: readonly Jwk[] | null = jwks?.keys ?? null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let flight: Promise<readonly Jwk[]> | null = null;

  return async (kid, algorithm) => {
    const isOld = jwksUri !== undefined && (known === null || performance.now() - readAtMs > cacheMaxAge * 1000);
    const first = choose(isOld ? await read() : (known ?? []), kid, algorithm);
    if (first || jwksUri === undefined || performance.now() - readAtMs < pauseMs)
      return first ? importKey(first, algorithm) : null;
    const second = choose(await read(), kid, algorithm);
    return second ? importKey(second, algorithm) : null;
  };

  function read(): Promise<readonly Jwk[]> {
    flight ??= fetchKeys(jwksUri as string, services)
      .then((keys) => {
        known = keys;
        readAtMs = performance.now();
        return keys;
      })
      .finally(() => {
        flight = null;
      });
    return flight;
  }
}

async function fetchKeys(url: string, services: CheckServices): Promise<readonly Jwk[]> {
  const { status, body } = await callService(services, { url, headers: ['accept', 'application/json'], timeoutMs });
  if (status !== 200) throw new CallError('HttpError', `the key set has status ${status}`);
  const { keys } = v.parse(
    v.looseObject({ keys: v.pipe(v.array(v.unknown()), v.maxLength(100)) }),
    JSON.parse(Buffer.from(body).toString()),
  );
  return keys.flatMap((one) => {
    const read = v.safeParse(jwk, one);
    return read.success ? [read.output] : [];
  });
}

/** Tokens without a `kid` are verified if the set has one key for the algorithm. */
function choose(keys: readonly Jwk[], kid: string | undefined, algorithm: string): Jwk | null {
  const usable = keys.filter(
    (key) => (key.alg === undefined || key.alg === algorithm) && kinds[algorithm.slice(0, 2)] === key.kty,
  );
  if (kid !== undefined) return usable.find((key) => key.kid === kid) ?? null;
  return usable.length === 1 ? (usable[0] as Jwk) : null;
}

/** The type of key of an algorithm, so that a public key never serves as a shared secret. */
const kinds: Readonly<Record<string, Jwk['kty']>> = { RS: 'RSA', PS: 'RSA', ES: 'EC', Ed: 'OKP', HS: 'oct' };

function importKey(key: Jwk, algorithm: string): Promise<Key> {
  return importJWK(key as never, algorithm);
}
