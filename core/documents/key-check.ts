import * as v from 'valibot';
import { type EncryptionKeys, keyOfCheck } from '../contract/protocol/credentials/encryption-keys.ts';
import { apiKeyPepperContext } from '../contract/protocol/credentials/key-check.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import { type InternalFetch, internalPaths, keyCheckReply } from '../contract/protocol/internal-api.ts';
import { deriveKey, unseal } from '../contract/values/credentials/secret.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Timers } from '../contract/values/time/timers.ts';

export interface KeyCheck {
  /** The error in a key of this gateway, in words for an operator. Null if no error is known. */
  issue(): string | null;
  /** True if this gateway cannot verify any caller's key. It then rejects requests. */
  blocks(): boolean;
  /** True once the keys were compared and match. */
  isOver(): boolean;
  stop(): void;
}

export interface KeyCheckOptions {
  readonly fetch: InternalFetch;
  readonly settings: EncryptionKeys & { readonly clusterKey: Uint8Array };
  /** Receives the pepper of the digests of API keys. */
  readonly keepApiKeyPepper: (pepper: Uint8Array) => void;
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
export async function startKeyCheck({ fetch, settings, keepApiKeyPepper, timers, log }: KeyCheckOptions): Promise<KeyCheck> {
  let issue: string | null = null;
  let isOver = false;
  let stopped = false;
  let cancel = (): void => {};

  /** The error; null if there is none, undefined if it could not be determined. */
  async function ask(): Promise<string | null | undefined> {
    const reply = await fetch('GET', internalPaths.keyCheck, null, timeoutMs);
    if (reply.status === 401) return issues.cluster;
    if (reply.status === 404) return null;
    if (reply.status !== 200) return undefined;
    const checks = v.parse(keyCheckReply, JSON.parse(Buffer.from(reply.body).toString('utf8')));
    const key = keyOfCheck(settings, checks.encryption_key);
    if (key === null) return issues.encryption;
    const sealed = checks.api_key_pepper;
    const transport = deriveKey(settings.clusterKey, keyPurposes.transport);
    keepApiKeyPepper(
      sealed === undefined
        ? deriveKey(key, keyPurposes.apiKeyPepper)
        : new Uint8Array(unseal(transport, sealed, apiKeyPepperContext)),
    );
    return null;
  }

  async function look(): Promise<void> {
    const found = await ask().catch(() => undefined);
    if (found !== undefined && found !== issue) {
      issue = found;
      if (issue === null) log.info({}, 'the keys of this gateway match the control plane');
      else log.error({ reason: issue }, 'a key of this gateway does not match the control plane; the gateway is not ready');
    }
    isOver = found === null;
    if (!isOver && !stopped) cancel = timers.after(againMs, () => void look());
  }

  await look();
  return {
    issue: () => issue,
    // With the wrong cluster key documents from the last known good still serve.
    blocks: () => issue === issues.encryption,
    isOver: () => isOver,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
