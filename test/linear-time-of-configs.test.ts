import { describe, expect, it } from 'vitest';
import { dropPaths } from '../core/contract/plugin/requests/drop-paths.ts';

/**
 * A saved config has room for tens of thousands of parts, and the request of a caller for hundreds of thousands of values. The time of a request
 * is their sum: their product would block the process until the watchdog kills it, which the time limit of the tests shows.
 */
const timeout = 20_000;
const n = 20_000;
const texts = (count: number, beginning: string) => Array.from({ length: count }, (_, i) => `${beginning}${i}`);

describe('drop_params', () => {
  it('many paths through a long list take linear time', { timeout }, () => {
    const messages = Array.from({ length: n }, () => ({ role: 'user', content: [1, 2], k7: 1 }));
    dropPaths({ messages }, [...texts(n, 'messages[*].k'), ...texts(n, 'messages[*].content.')]);
    expect(messages).toEqual(Array.from({ length: n }, () => ({ role: 'user', content: [] })));
  });

  it('many elements that are removed from a long list take linear time', { timeout }, () => {
    const list = Array.from({ length: 10 * n }, (_, i) => i);
    dropPaths({ list }, texts(5 * n, 'list.'));
    expect(list.length).toBe(5 * n);
    expect(list[0]).toBe(5 * n);
  });
});
