import type { ChangeNotice } from '../../core/contract/protocol/documents.ts';
import type { Log } from '../../core/contract/values/log.ts';
import { causeOf } from '../cause-of.ts';
import type { Database } from '../db/open-database.ts';
import { type OutboxEvent, outbox } from './entity.ts';

/** Sends committed changes on their way. A notice that is lost on the way does no harm: gateways ask for what they miss. */
export interface Relay {
  /** Call after a commit; returns at once. Notices given are on their way when it returns, others as soon as they were read. */
  wake(notices?: readonly ChangeNotice[]): void;
  /** Publishes what is left, then stops. */
  close(): Promise<void>;
}

/**
 * Starts by publishing what an earlier run left unpublished. `publish` must not throw. Notices go out in the order of their revisions,
 * each once: at once where the one before has gone, else when the outbox was read.
 */
export function startRelay(database: Pick<Database, 'em'>, publish: (notice: ChangeNotice) => void, log: Log): Relay {
  /** Committed, waiting for the ones before. */
  const held = new Map<number, ChangeNotice>();
  /** The revision that may go out next; null until the outbox was read for the first time. */
  let next: number | null = null;
  let asked = true;
  let closed = false;
  let running: Promise<void> = Promise.resolve();
  let active = false;

  /** Takes notices in any order; those that went out before are left out. */
  function send(notices: readonly ChangeNotice[]): void {
    for (const notice of notices) if (next === null || notice.revision >= next) held.set(notice.revision, notice);
    for (let due = next === null ? undefined : held.get(next); due; due = held.get(next as number)) {
      held.delete(due.revision);
      next = due.revision + 1;
      publish(due);
    }
  }

  /** All rows before the first of these are published: by this process or another one. */
  function sendRead(rows: readonly OutboxEvent[]): void {
    for (const { revision, kind, documentId, op } of rows) {
      if (next === null || revision > next) next = revision;
      send([{ revision, kind, id: documentId, op }]);
    }
    for (const revision of held.keys()) if (next !== null && revision < next) held.delete(revision);
  }

  async function run(): Promise<void> {
    while (asked) {
      asked = false;
      try {
        while ((await publishSome(database, sendRead)) === batchSize);
      } catch (error) {
        // The next wake, or the next start, publishes them; until then gateways poll.
        log.warn({ cause: causeOf(error) }, 'could not publish changes');
      }
    }
    active = false;
  }

  function start(): void {
    if (active) return;
    active = true;
    running = run();
  }

  start();
  return {
    wake(notices = []) {
      if (closed) return;
      send(notices);
      asked = true;
      start();
    },
    async close() {
      closed = true;
      await running;
    },
  };
}

const batchSize = 1_000;

/** How many of the newest changes stay to be asked for. */
const keptChanges = 100_000;
const pruneEvery = 1_000;

async function publishSome(database: Pick<Database, 'em'>, sendRead: (rows: readonly OutboxEvent[]) => void): Promise<number> {
  const em = database.em();
  const rows = await em.find(outbox, { publishedAt: null }, { orderBy: { revision: 'asc' }, limit: batchSize });
  sendRead(rows);
  const first = rows[0];
  const last = rows.at(-1);
  if (!first || !last) return 0;
  await em.nativeUpdate(outbox, { publishedAt: null, revision: { $lte: last.revision } }, { publishedAt: new Date() });
  // Now and then old rows go: a gateway that was away for longer reads everything again.
  if (Math.floor(last.revision / pruneEvery) > Math.floor((first.revision - 1) / pruneEvery)) {
    await em.nativeDelete(outbox, { revision: { $lte: last.revision - keptChanges } });
  }
  return rows.length;
}
