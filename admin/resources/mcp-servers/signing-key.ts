import { createHash, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { type SigningKeyDocument, signingKeyId } from '../../../core/contract/protocol/credentials/signing-key.ts';
import { deriveKey, seal, unseal } from '../../../core/contract/values/credentials/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { DocumentSource } from '../../define-resource.ts';
import { type McpSigningKey, mcpSigningKeys } from '../mcp-integrations/entity.ts';

const newKeyPair = promisify(generateKeyPair);

/**
 * Returns the keys that sign the identity of callers, and creates the first one. A key that CLUSTER_KEY cannot open any more is followed
 * by a new one, and is no longer published. Null for another id.
 */
export async function toSigningKeyDocument(
  { database, clusterKey }: DocumentSource,
  id: string,
): Promise<SigningKeyDocument | null> {
  if (id !== signingKeyId) return null;
  const em = database.em();
  const stored = deriveKey(clusterKey, keyPurposes.storedSigningKey);
  let rows = await list(em);
  if (rows.every((row) => open(stored, row) === null)) {
    await add(em, stored, (rows[0]?.number ?? 0) + 1);
    rows = await list(em);
  }
  const transport = deriveKey(clusterKey, keyPurposes.transport);
  const keys = rows.flatMap((row) => {
    const opened = open(stored, row);
    if (opened === null) return [];
    const publicKey = row.publicKey as SigningKeyDocument['keys'][number]['publicKey'];
    return [{ publicKey, privateKey: seal(transport, opened, `signing-key/${publicKey.kid}`) }];
  });
  return { id, keys };
}

/** The newest first. */
function list(em: EntityManager): Promise<McpSigningKey[]> {
  return em.find(mcpSigningKeys, {}, { orderBy: { number: 'desc' }, limit: 10 });
}

/** Two control planes may add the same number at once. Then the first one stays. */
async function add(em: EntityManager, key: Uint8Array, number: number): Promise<void> {
  const pair = await newKeyPair('rsa', { modulusLength: 2_048 });
  const jwk = pair.publicKey.export({ format: 'jwk' });
  // RFC 7638: the thumbprint names the key.
  const kid = createHash('sha256')
    .update(JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n }))
    .digest('base64url');
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await em.execute(
    `insert into mcp_signing_keys (number, public_key, sealed, created_at) values (?, ?, ?, now()) on conflict do nothing`,
    [number, JSON.stringify({ ...jwk, kid, alg: 'RS256', use: 'sig' }), seal(key, pem, locationOf(number))],
  );
}

function open(key: Uint8Array, { sealed, number }: McpSigningKey): string | null {
  try {
    return unseal(key, sealed, locationOf(number)).toString('utf8');
  } catch {
    return null;
  }
}

function locationOf(number: number): string {
  return `mcp_signing_keys/${number}`;
}
