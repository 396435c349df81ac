import type { Log } from '../../../core/contract/values/log.ts';
import { causeOf } from '../../cause-of.ts';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { Database } from '../../db/open-database.ts';
import { createTable, recordTable } from './record-table.ts';

/** Sends waiting copies of records to ClickHouse. */
export interface CopyShipper {
  /** Call after a commit that stored records. Returns at once. */
  wake(): void;
  /** Null while the last batch was sent; else the reason why copies wait. */
  failure(): string | null;
  /** Ends after the running insert. Copies that wait are sent after the next start. */
  close(): Promise<void>;
}

/** Batches per insert. A gateway sends up to 1,000 records in one batch. */
const batchesMax = 20;
const [firstWaitMs, waitMsMax, pollMs] = [500, 30_000, 2_000];

/**
 * Starts sending. A copy is deleted after ClickHouse stored it. If the process ends in between, or several control planes send the same copy,
 * ClickHouse keeps one of them. While ClickHouse is away the copies wait in the database.
 */
export function startShipper(database: Pick<Database, 'em'>, clickhouse: ClickHouse, log: Log): CopyShipper {
  let [isReady, isAwake, isClosed] = [false, false, false];
  let failure: string | null = null;
  let retryMs = firstWaitMs;
  let endWait = () => {};

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function shipOnce(): Promise<boolean> {
    if (!isReady) await clickhouse.run(createTable);
    isReady = true;
    const em = database.em();
    const rows = await executeBound<{ id: number | string; lines: string }>(
      em,
      `select id, lines from record_copies order by id limit ${batchesMax}`,
      [],
    );
    if (rows.length === 0) return false;
    await clickhouse.insert(recordTable, rows.map(({ lines }) => lines).join(''));
    await executeBound(em, 'delete from record_copies where id = any($1::text::bigint[])', [`{${rows.map(({ id }) => id)}}`]);
    return rows.length === batchesMax;
  }

  async function run(): Promise<void> {
    while (!isClosed) {
      isAwake = false;
      try {
        const isMore = await shipOnce();
        if (failure !== null) log.info({}, 'records are copied to ClickHouse again');
        failure = null;
        retryMs = firstWaitMs;
        // Copies of other control planes do not wake this one.
        if (!isMore && !isAwake && !isClosed) await pause(pollMs);
      } catch (error) {
        if (failure === null) log.warn({ cause: causeOf(error) }, 'cannot copy records to ClickHouse; they wait in the database');
        failure = error instanceof Error ? error.message : 'unknown';
        if (!isClosed) await pause(retryMs);
        retryMs = Math.min(retryMs * 2, waitMsMax);
      }
    }
  }

  const running = run();
  return {
    wake() {
      isAwake = true;
      if (failure === null) endWait();
    },
    failure: () => failure,
    async close() {
      isClosed = true;
      endWait();
      await running;
    },
  };
}
