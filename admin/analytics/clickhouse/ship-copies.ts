import type { Log } from '../../../core/contract/values/log/log.ts';
import { type ClickHouse, ClickHouseError } from '../../clickhouse/clickhouse.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { Database, EntityManager } from '../../db/open-database.ts';
import { failureFields } from '../../failure-fields.ts';
import { prepareTable, recordTable } from './record-table.ts';

/** Sends waiting copies of records to ClickHouse. */
export interface CopyShipper {
  /** Call after a commit that stored records. Returns at once. */
  wake(): void;
  /** Null while the last batch was sent; else the reason why copies wait. */
  failure(): string | null;
  /** Ends after the running insert. Copies that wait are sent after the next start. */
  close(): Promise<void>;
}

interface Copy {
  readonly id: number | string;
  readonly lines: string;
}

async function forget(em: EntityManager, copies: readonly Copy[]): Promise<void> {
  await executeBound(em, 'delete from record_copies where id = any($1::text::bigint[])', [`{${copies.map(({ id }) => id)}}`]);
}

function isRefusal(error: unknown): error is ClickHouseError {
  return error instanceof ClickHouseError && !error.isTemporary;
}

/** Batches per insert. A gateway sends up to 1,000 records in one batch. */
const batchesMax = 20;
const [firstWaitMs, waitMsMax, pollMs] = [500, 30_000, 2_000];

/**
 * Starts sending. A copy is deleted after ClickHouse stored it. If the process ends in between, or several control planes send the same
 * copy, ClickHouse keeps one of them. While ClickHouse is unreachable, the copies wait in the database. A batch that ClickHouse refuses,
 * although it accepts others of the same time, is marked and left in the database, so that it does not block them.
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
    if (!isReady) await prepareTable(clickhouse);
    isReady = true;
    const em = database.em();
    const copies = await executeBound<Copy>(
      em,
      `select id, lines from record_copies where refused_for is null order by id limit ${batchesMax}`,
      [],
    );
    if (copies.length === 0) return false;
    try {
      await clickhouse.insert(recordTable, copies.map(({ lines }) => lines).join(''));
      await forget(em, copies);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await shipOneByOne(em, copies, error);
    }
    return copies.length === batchesMax;
  }

  /** Sends each batch alone, after they were refused together. Throws the refusal if all are refused: then the table is wrong, not a batch. */
  async function shipOneByOne(em: EntityManager, copies: readonly Copy[], refusal: ClickHouseError): Promise<void> {
    const refused: (Copy & { readonly reason: string })[] = [];
    for (const copy of copies) {
      try {
        await clickhouse.insert(recordTable, copy.lines);
        await forget(em, [copy]);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.push({ ...copy, reason: error.message });
      }
    }
    if (refused.length === copies.length) throw refusal;
    for (const { id, reason } of refused) {
      await executeBound(em, 'update record_copies set refused_for = $2 where id = $1', [id, reason]);
      log.error(
        { batch: Number(id), reason },
        'ClickHouse refused a batch of records; send it again with npm run clickhouse:copy -- --refused',
      );
    }
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
        if (failure === null) log.warn(failureFields(error), 'cannot copy records to ClickHouse; they wait in the database');
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
