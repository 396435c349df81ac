import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EncryptionKeys } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { seal, sealBytes, unseal, unsealBytes } from '../../core/contract/values/credentials/secret.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { DataKeyError, openDataKey, wrapDataKey } from './data-key.ts';
import { dataKeys } from './entity.ts';
import { requireEncryptionKey } from './key-checks.ts';

/** Owner and field of a sealed value. It can be opened only with the same ones. */
export interface SealContext {
  readonly organisationId: string;
  readonly table: string;
  readonly column: string;
  readonly rowId: string;
}

/**
 * Envelope encryption: each organisation has a data key, sealed by the master key. Values have the form `<key version>:<sealed>`.
 */
export interface Vault {
  /** Creates the first data key of an organisation; once, when the organisation is created. Throws EncryptionKeyError if the database has another master key. */
  addDataKey(tx: EntityManager, organisationId: string): Promise<void>;
  seal(em: EntityManager, context: SealContext, plain: string): Promise<string>;
  /** Throws if the value was moved or changed, and DataKeyError if it was sealed under another master key. */
  open(em: EntityManager, context: SealContext, sealed: string): Promise<string>;
  /** Like `seal`, for large values: the key version in four bytes, then the sealed bytes. */
  sealBytes(em: EntityManager, context: SealContext, plain: Uint8Array): Promise<Uint8Array>;
  /** Opens the bytes of `sealBytes`. Throws as `open` does. */
  openBytes(em: EntityManager, context: SealContext, sealed: Uint8Array): Promise<Uint8Array>;
}

/** Without the 32-byte master key no stored credential can be opened. While it is replaced, each data key is opened with either key. */
export function createVault(keys: EncryptionKeys): Vault {
  const opened = new LRUCache<string, { version: number; key: Uint8Array }>({ max: 1_000 });

  /** Returns the organisation's key of this version, or its newest one. Keys never change, so they are cached. */
  async function keyOf(em: EntityManager, organisationId: string, version: number | null) {
    const name = `${organisationId}/${version ?? 'newest'}`;
    const known = opened.get(name);
    if (known) return known;
    const where = version === null ? { organisationId } : { organisationId, version };
    const row = await em.findOneOrFail(dataKeys, where, { orderBy: { version: 'desc' } });
    const key = openDataKey(keys, row);
    if (key === null) throw new DataKeyError(row);
    const found = { version: row.version, key };
    opened.set(name, found, { ttl: version === null ? newestKnownMs : 0 });
    return found;
  }

  return {
    async addDataKey(tx, organisationId) {
      const id = newId();
      // The lock makes a replacement of the key wait for this row, or this row for the replacement.
      const encryptionKey = await requireEncryptionKey(tx, keys, 'for share');
      const wrapped = wrapDataKey(encryptionKey, { id, organisationId }, randomBytes(32));
      tx.create(dataKeys, { id, organisationId, version: 1, wrapped, createdAt: new Date() });
      await tx.flush();
    },
    async seal(em, context, plain) {
      const { version, key } = await keyOf(em, context.organisationId, null);
      return `${version}:${seal(key, plain, textOf(context))}`;
    },
    async open(em, context, sealed) {
      const colon = sealed.indexOf(':');
      const { key } = await keyOf(em, context.organisationId, Number(sealed.slice(0, colon)));
      return unseal(key, sealed.slice(colon + 1), textOf(context)).toString('utf8');
    },
    async sealBytes(em, context, plain) {
      const { version, key } = await keyOf(em, context.organisationId, null);
      const head = Buffer.alloc(versionBytes);
      head.writeUInt32BE(version);
      return Buffer.concat([head, sealBytes(key, plain, textOf(context))]);
    },
    async openBytes(em, context, sealed) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const { key } = await keyOf(em, context.organisationId, bytes.readUInt32BE());
      return unsealBytes(key, bytes.subarray(versionBytes), textOf(context));
    },
  };
}

const versionBytes = 4;

/** Time for which values may still be sealed with the previous version after a new key version appears. */
const newestKnownMs = 60_000;

function textOf(context: SealContext): string {
  return `${context.organisationId}/${context.table}/${context.column}/${context.rowId}`;
}
