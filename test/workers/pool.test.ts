import { afterAll, describe, expect, it } from 'vitest';
import { createWorkerPool } from '../../workers/pool.ts';
import countTokens from '../../workers/tasks/count-tokens.ts';

const pool = createWorkerPool();
afterAll(() => pool.close());

describe('counting tokens', () => {
  it('counts as the encoding does, in a thread as inline', async () => {
    const texts = ['hello world', 'Grüße aus Köln', ''];
    expect(countTokens({ texts })).toBe(await pool.countTokens(texts, 20_000));
    expect(countTokens({ texts: ['hello world'] })).toBe(2);
  });

  it('takes text that spells a special token for text', () => {
    expect(countTokens({ texts: ['<|endoftext|>'] })).toBeGreaterThan(1);
  });

  it('cuts what is longer than a thread should be kept for', async () => {
    const most = await pool.countTokens(['a '.repeat(512 * 1024)], 20_000);
    expect(await pool.countTokens(['a '.repeat(512 * 1024), 'b '.repeat(512 * 1024)], 20_000)).toBe(most);
  });

  it('gives up at the time limit instead of waiting', async () => {
    await expect(pool.countTokens(['a '.repeat(512 * 1024)], 0)).rejects.toMatchObject({ code: 'internal' });
  });

  it('says that it is overloaded when its queue is full', async () => {
    const small = createWorkerPool();
    const asked = Array.from({ length: 1100 }, () =>
      small.countTokens(['x'], 30_000).catch((error: { code: string }) => error.code),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 'overloaded').length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer === 1).length).toBeGreaterThan(900);
    await small.close();
  });
});
