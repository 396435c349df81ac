import type { DocumentReply } from '../contract/internal-api.ts';

export interface KeyQuestions {
  /** One key, in a call of its own. */
  one(id: string): Promise<DocumentReply>;
  /** Several keys in one call; the replies in the order of the ids. */
  several(ids: readonly string[]): Promise<readonly DocumentReply[]>;
  /** True while the control plane is known to be away. */
  isAway(): boolean;
}

/** Calls under way at once: the second keeps the control plane busy while the first one's reply travels. */
const callsMax = 2;

interface Waiting {
  readonly id: string;
  readonly resolve: (reply: DocumentReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks keys up, those together that come while `callsMax` calls are under way. A key that comes alone waits for nobody; when
 * many new ones come at once, a call, a statement and a transaction are shared by as many as have come meanwhile, so that the
 * pace of look-ups grows with the need for them. When a shared call fails though the control plane is there, each key is asked
 * for alone: one that cannot be read must not take the others with it.
 */
export function createKeyLookUps(questions: KeyQuestions, perCallMax: number): (id: string) => Promise<DocumentReply> {
  let waiting: Waiting[] = [];
  let calls = 0;

  return (id) =>
    new Promise((resolve, reject) => {
      waiting.push({ id, resolve, reject });
      next();
    });

  function next(): void {
    while (calls < callsMax && waiting.length > 0) {
      const batch = waiting.slice(0, perCallMax);
      waiting = waiting.slice(perCallMax);
      calls += 1;
      void ask(batch).finally(() => {
        calls -= 1;
        next();
      });
    }
  }

  async function ask(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return askAlone(batch[0] as Waiting);
    try {
      const replies = await questions.several(batch.map(({ id }) => id));
      for (const [at, { resolve }] of batch.entries()) resolve(replies[at] as DocumentReply);
    } catch (error) {
      if (!questions.isAway()) await Promise.all(batch.map(askAlone));
      else for (const { reject } of batch) reject(error);
    }
  }

  async function askAlone({ id, resolve, reject }: Waiting): Promise<void> {
    await questions.one(id).then(resolve, reject);
  }
}
