import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { openDatabase } from '../../admin/db/open-database.ts';
import { entities, migrations } from '../../admin/tables.ts';
import { keyPurposes } from '../../core/contract/protocol/credentials/key-purposes.ts';
import { digestSecret, formatApiKey } from '../../core/contract/values/credentials/api-key.ts';
import { deriveKey } from '../../core/contract/values/credentials/secret.ts';
import { newMemoryLog } from '../../test/support/fakes/memory-log.ts';

/** The keys of the benchmark: rows of one workspace with one common secret, so that one statement can create them. */
export interface KeyFill {
  readonly count: number;
  /** Returns the public id of the n-th key, from 0. */
  idOf(n: number): string;
  textOf(n: number): string;
  /** Writes the texts of the first `count` keys one after the other. All have `width` characters. */
  writeTexts(file: string, count: number): Promise<void>;
  readonly width: number;
}

/** Adds `count` keys to the database. Resolves with their naming, and the time in milliseconds. */
export async function fillKeys(
  databaseUrl: string,
  encryptionKey: Uint8Array,
  workspaceId: string,
  count: number,
): Promise<KeyFill & { readonly tookMs: number; readonly sizeMib: number }> {
  const secret = randomBytes(30).toString('hex').slice(0, 40);
  const idOf = (n: number) => `K${String(n).padStart(11, '0')}`;
  const textOf = (n: number) => formatApiKey({ kind: 'ws', id: idOf(n), secret });
  const startedAtMs = performance.now();
  // The product is running, so no query may take longer than its own time limit.
  const sizeMib = await insert(
    databaseUrl,
    workspaceId,
    digestSecret(deriveKey(encryptionKey, keyPurposes.apiKeyPepper), secret),
    count,
  );
  return {
    count,
    idOf,
    textOf,
    width: textOf(0).length,
    tookMs: performance.now() - startedAtMs,
    sizeMib,
    async writeTexts(file, howMany) {
      const out = createWriteStream(file);
      for (let n = 0; n < howMany; n += 10_000) {
        let part = '';
        for (let i = n; i < Math.min(n + 10_000, howMany); i++) part += textOf(i);
        out.write(part);
      }
      out.end();
      await finished(out);
    },
  };
}

const batch = 5_000;

async function insert(databaseUrl: string, workspaceId: string, digest: string, count: number): Promise<number> {
  const database = await openDatabase({ databaseUrl, dbPoolSize: 1, dataDir: '' }, { entities, migrations }, newMemoryLog());
  try {
    const em = database.em();
    for (let from = 0; from < count; from += batch) {
      await em.execute(
        `insert into api_keys (id, organisation_id, workspace_id, type, name, public_id, digest, last_characters, scopes,
           default_metadata, allow_config_override, creation_mode, created_at, last_updated_at)
         select gen_random_uuid(), w.organisation_id, w.id, 'workspace-service', 'Key ' || n, 'K' || lpad(n::text, 11, '0'), ?, 'xxxx',
           '["completions.write"]', '{"team": "bench"}', true, 'api', now() - n * interval '1 second', now()
         from workspaces w, generate_series(?::int, ?::int) as n where w.id = ?`,
        [digest, from, Math.min(from + batch, count) - 1, workspaceId],
        'run',
      );
    }
    // Like autovacuum after so many inserts.
    await em.execute('vacuum analyze api_keys', [], 'run');
    await em.execute('checkpoint', [], 'run');
    const [size] = await em.execute<[{ mib: number }]>("select pg_total_relation_size('api_keys') / 1048576.0 as mib");
    return Number(size.mib);
  } finally {
    await database.close();
  }
}
