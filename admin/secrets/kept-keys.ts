import { type EncryptionKeys, keysToTry } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { keyPurposes } from '../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal, unseal } from '../../core/contract/values/credentials/secret.ts';
import type { EntityManager } from '../db/open-database.ts';
import { requireEncryptionKey } from './key-checks.ts';

/**
 * Keys of stored digests, which cannot be computed again: the plain API keys are unknown, and an audit entry must not change. They
 * are derived from the first ENCRYPTION_KEY of the database. A replacement of that key stores them, sealed with the new one.
 */
export interface KeptKeys {
  /** Pepper of the digests of API keys. */
  readonly apiKeyPepper: Uint8Array;
  /** Key of the hashes of the audit chain. */
  readonly auditKey: Uint8Array;
}

const purposes: Readonly<Record<keyof KeptKeys, string>> = {
  apiKeyPepper: keyPurposes.apiKeyPepper,
  auditKey: keyPurposes.auditChain,
};

/** Throws StartError if neither key is the one of the database. */
export async function readKeptKeys(em: EntityManager, keys: EncryptionKeys): Promise<KeptKeys> {
  const encryptionKey = await requireEncryptionKey(em, keys);
  const rows = await em.execute<{ name: string; sealed: string }[]>('select name, sealed from kept_keys');
  const stored = new Map(rows.map(({ name, sealed }) => [name, sealed]));
  const keyOf = (name: keyof KeptKeys): Uint8Array => {
    const sealed = stored.get(name);
    return sealed === undefined ? deriveKey(encryptionKey, purposes[name]) : open(keys, name, sealed);
  };
  return { apiKeyPepper: keyOf('apiKeyPepper'), auditKey: keyOf('auditKey') };
}

/** Stores the keys, sealed with this ENCRYPTION_KEY. */
export async function storeKeptKeys(tx: EntityManager, encryptionKey: Uint8Array, kept: KeptKeys): Promise<void> {
  for (const name of ['apiKeyPepper', 'auditKey'] as const) {
    const sealed = seal(deriveKey(encryptionKey, keyPurposes.keptKeys), kept[name], contextOf(name));
    const statement =
      'insert into kept_keys (name, sealed) values (?, ?) on conflict (name) do update set sealed = excluded.sealed';
    await tx.execute(statement, [name, sealed]);
  }
}

function open(keys: EncryptionKeys, name: keyof KeptKeys, sealed: string): Uint8Array {
  for (const key of keysToTry(keys)) {
    try {
      return new Uint8Array(unseal(deriveKey(key, keyPurposes.keptKeys), sealed, contextOf(name)));
    } catch {}
  }
  throw new Error(`ENCRYPTION_KEY: cannot decrypt the row ${name} of kept_keys`);
}

function contextOf(name: keyof KeptKeys): string {
  return `kept_keys/sealed/${name}`;
}
