import type { ChangeNotice } from '../../core/contract/protocol/notices/change-notice.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import type { Database } from '../db/open-database.ts';
import { failureFields } from '../failure-fields.ts';
import { type OutboxEvent, outbox } from './entity.ts';

/** Publishes committed changes. A lost notice does no harm: gateways poll for missed changes. */
export interface Relay {
  /** Call after a commit. Returns at once. The given notices are sent when it returns, others after they were read. */
  wake(notices?: readonly ChangeNotice[]): void;
  /** Publishes the remaining changes, then stops. */
  close(): Promise<void>;
}

/**
 * Starts by publishing the unpublished changes of an earlier run. `publish` must not throw. Notices are sent in the order of
 * their revisions, each once: at once if the previous one has been sent, else after the outbox was read.
 */
export function startRelay(database: Pick<Database, 'em'>, publish: (notice: ChangeNotice) => void, log: Log): Relay {
  /** Committed notices that wait for earlier ones. */
  const held = new Map<number, ChangeNotice>();
  /** The next revision to send. Null until the outbox was read for the first time. */
  let next: number | null = null;
  let asked = true;
  let closed = false;
  let running: Promise<void> = Promise.resolve();
  let active = false;

  /** Accepts notices in any order; skips those already sent. */
  function send(notices: readonly ChangeNotice[]): void {
    for (const notice of notices) if (next === null || notice.revision >= next) held.set(notice.revision, notice);
    for (let due = next === null ? undefined : held.get(next); due; due = held.get(next as number)) {
      held.delete(due.revision);
      next = due.revision + 1;
      publish(due);
    }
  }

  /** This process or another one has published all rows before the first of these. */
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
        log.warn(failureFields(error), 'could not publish changes');
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

/** Number of the newest changes that stay available to gateways. */
const changesMax = 100_000;
const pruneEvery = 1_000;

async function publishSome(database: Pick<Database, 'em'>, sendRead: (rows: readonly OutboxEvent[]) => void): Promise<number> {
  const em = database.em();
  const rows = await em.find(outbox, { publishedAt: null }, { orderBy: { revision: 'asc' }, limit: batchSize });
  sendRead(rows);
  const first = rows[0];
  const last = rows.at(-1);
  if (!first || !last) return 0;
  await em.nativeUpdate(outbox, { publishedAt: null, revision: { $lte: last.revision } }, { publishedAt: new Date() });
  // Old rows are deleted from time to time. A gateway that was unreachable for longer reads everything again.
  if (Math.floor(last.revision / pruneEvery) > Math.floor((first.revision - 1) / pruneEvery)) {
    await em.nativeDelete(outbox, { revision: { $lte: last.revision - changesMax } });
  }
  return rows.length;
}
