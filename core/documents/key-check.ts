import * as v from 'valibot';
import { opensKeyCheck } from '../contract/protocol/credentials/key-check.ts';
import { type InternalFetch, internalPaths, keyCheckReply } from '../contract/protocol/internal-api.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Timers } from '../contract/values/time/timers.ts';

export interface KeyCheck {
  /** The error in a key of this gateway, in words for an operator. Null if no error is known. */
  issue(): string | null;
  /** True if this gateway cannot verify any caller's key. It then rejects requests. */
  blocks(): boolean;
  stop(): void;
}

export interface KeyCheckOptions {
  readonly fetch: InternalFetch;
  readonly encryptionKey: Uint8Array;
  readonly timers: Timers;
  readonly log: Log;
}

const timeoutMs = 3000;
const againMs = 1000;

const issues = {
  cluster: 'CLUSTER_KEY: the control plane rejects it, expected the key that the control plane has',
  encryption: 'ENCRYPTION_KEY: cannot decrypt the data of the control plane, expected the key that the control plane has',
} as const;

/**
 * Compares the keys of this gateway with those of the control plane. Resolves after the first attempt. If the control plane is
 * unreachable or a key is wrong, the check is repeated. It ends if the control plane is too old to support it.
 */
export async function startKeyCheck({ fetch, encryptionKey, timers, log }: KeyCheckOptions): Promise<KeyCheck> {
  let issue: string | null = null;
  let stopped = false;
  let cancel = (): void => {};

  /** The error; null if there is none, undefined if it could not be determined. */
  async function ask(): Promise<string | null | undefined> {
    const reply = await fetch('GET', internalPaths.keyCheck, null, timeoutMs);
    if (reply.status === 401) return issues.cluster;
    if (reply.status === 404) return null;
    if (reply.status !== 200) return undefined;
    const { encryption_key } = v.parse(keyCheckReply, JSON.parse(Buffer.from(reply.body).toString('utf8')));
    return opensKeyCheck('ENCRYPTION_KEY', encryptionKey, encryption_key) ? null : issues.encryption;
  }

  async function look(): Promise<void> {
    const found = await ask().catch(() => undefined);
    if (found !== undefined && found !== issue) {
      issue = found;
      if (issue === null) log.info({}, 'the keys of this gateway match the control plane');
      else log.error({ reason: issue }, 'a key of this gateway does not match the control plane; the gateway is not ready');
    }
    if (found !== null && !stopped) cancel = timers.after(againMs, () => void look());
  }

  await look();
  return {
    issue: () => issue,
    // With the wrong cluster key documents from the last known good still serve.
    blocks: () => issue === issues.encryption,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
