import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import type { Database } from '../db/open-database.ts';
import { auditChains } from './entity.ts';

/** Head of an organisation's chain at a time, stored outside the database. */
export interface Anchor {
  readonly organisationId: string;
  readonly seq: number;
  readonly hash: string;
}

/** Milliseconds between two anchors. */
const everyMs = dayMs;

/** Returns the path of the anchor file: one JSON object per line. Lines are only added. */
export function anchorFile(settings: Pick<Settings, 'dataDir'>): string {
  return join(settings.dataDir, 'audit-anchors.jsonl');
}

/**
 * Writes the head of every chain to the anchor file and to the log, at most once a day. A log that is shipped elsewhere is then
 * an anchor outside this machine. Rejects if the database or the file cannot be used.
 */
export async function anchorChains(
  settings: Pick<Settings, 'dataDir'>,
  database: Database,
  log: Log,
  now = Date.now(),
): Promise<void> {
  const file = anchorFile(settings);
  const written = await stat(file).catch(() => null);
  if (written && now - written.mtimeMs < everyMs) return;
  const heads = await database.em().find(auditChains, {}, { orderBy: { organisationId: 'asc' } });
  if (heads.length === 0) return;
  const at = new Date(now).toISOString();
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  const lines = heads.map(({ organisationId, seq, hash }) => JSON.stringify({ at, organisation_id: organisationId, seq, hash }));
  await appendFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flush: true });
  for (const { organisationId, seq, hash } of heads)
    log.info({ organisationId, seq, chainHash: hash }, 'daily anchor of the audit chain');
}

const anchorLine = v.object({ organisation_id: v.string(), seq: v.number(), hash: v.string() });

/** Returns all anchors of the file; none without a file. Throws with the number of an invalid line. */
export async function readAnchors(file: string): Promise<Anchor[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line, index) => {
    if (line === '') return [];
    try {
      const { organisation_id: organisationId, seq, hash } = v.parse(anchorLine, JSON.parse(line));
      return [{ organisationId, seq, hash }];
    } catch {
      throw new Error(`${file}: line ${index + 1} is no anchor`);
    }
  });
}
