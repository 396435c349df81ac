import type { DocumentReply } from '../contract/protocol/internal-api.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import type { Timers } from '../contract/values/time/timers.ts';

export interface KeyQuestions {
  /** One key, in a call of its own. `mayWait`: see `ControlPlaneClient`. */
  one(id: string, mayWait: boolean): Promise<DocumentReply>;
  /** Several keys in one call; the replies in the order of the ids. */
  several(ids: readonly string[], mayWait: boolean): Promise<readonly DocumentReply[]>;
  /** True while the control plane is known to be away. */
  isAway(): boolean;
}

/** Maximum number of concurrent calls. The second keeps the control plane busy while the first reply is in transit. */
const callsMax = 2;
/** After `manyCount` look-ups within `manyMs`, more are expected. Keys then wait `gatherMs` to share a call. */
const manyCount = 10;
const manyMs = 25;
const gatherMs = 3;
/** This many waiting keys are sent at once. */
const companyEnough = 8;

interface Waiting {
  readonly id: string;
  readonly mayWait: boolean;
  readonly resolve: (reply: DocumentReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up keys. Keys that arrive while `callsMax` calls are in progress, or shortly after one another while new keys keep
 * coming, share a call. A single key is looked up without delay. When many new keys arrive, one call and one statement serve all
 * keys that have arrived meanwhile, so the rate of look-ups grows with demand. If a shared call fails although the control plane
 * is reachable, each key is looked up alone, so that one unreadable key does not fail the others.
 */
export function createKeyLookUps(
  questions: KeyQuestions,
  clock: Pick<Clock, 'elapsed'>,
  timers: Timers,
  perCallMax: number,
): (id: string, mayWait: boolean) => Promise<DocumentReply> {
  let waiting: Waiting[] = [];
  let calls = 0;
  let gathering = false;
  /** Times of the last look-ups, as a ring: `asked` is the number of look-ups, and the next one replaces the oldest. */
  const askedAtMs: number[] = Array.from({ length: manyCount }, () => Number.NEGATIVE_INFINITY);
  let asked = 0;

  return (id, mayWait) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, mayWait, resolve, reject });
      const nowMs = clock.elapsed();
      const areMany = nowMs - (askedAtMs[asked % manyCount] as number) < manyMs;
      askedAtMs[asked++ % manyCount] = nowMs;
      if (!areMany || waiting.length >= companyEnough) send();
      else gather();
    });

  function gather(): void {
    if (gathering || calls === callsMax) return;
    gathering = true;
    timers.after(gatherMs, () => {
      gathering = false;
      send();
    });
  }

  function send(): void {
    while (calls < callsMax && waiting.length > 0) {
      const batch = waiting.slice(0, perCallMax);
      waiting = waiting.slice(perCallMax);
      calls += 1;
      void ask(batch).finally(() => {
        calls -= 1;
        if (!gathering) send();
      });
    }
  }

  async function ask(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return askAlone(batch[0] as Waiting);
    try {
      const replies = await questions.several(
        batch.map(({ id }) => id),
        batch.some(({ mayWait }) => mayWait),
      );
      for (const [at, { resolve }] of batch.entries()) resolve(replies[at] as DocumentReply);
    } catch (error) {
      if (!questions.isAway()) await Promise.all(batch.map(askAlone));
      else for (const { reject } of batch) reject(error);
    }
  }

  async function askAlone({ id, mayWait, resolve, reject }: Waiting): Promise<void> {
    await questions.one(id, mayWait).then(resolve, reject);
  }
}
