import MiniSearch from 'minisearch';
import { expect, it, vi } from 'vitest';
import { searchTools } from '../../../../core/mcp/tool-search/search-tools.ts';

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const found = async (description: string, query: string) => (await searchTools([tool('a', description)], query, 10)).length;

it('finds words with two wrong letters at most, however long they are', async () => {
  expect([await found('reconciliations', 'reconsiliasions'), await found('reconciliations', 'rekonsiliasions')]).toEqual([1, 0]);
});

it('searches the first 32 words of a query, and the first 8,000 characters of a description', async () => {
  const others = Array.from({ length: 32 }, (_, i) => `w${i}`).join(' ');
  expect([await found('invoice', `${others.slice(0, -4)} invoice`), await found('invoice', `${others} invoice`)]).toEqual([1, 0]);
  expect([
    await found(`${'- '.repeat(3_000)}invoice`, 'invoice'),
    await found(`${'- '.repeat(5_000)}invoice`, 'invoice'),
  ]).toEqual([1, 0]);
});

/** Tools whose descriptions have as many characters, all of them in words of their own. */
const manyTools = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => {
    let description = '';
    for (let word = 0; description.length < length; word++) description += `${i.toString(36)}x${word.toString(36)} `;
    return tool(`tool${i}`, description);
  });

it('indexes many long descriptions in several turns of the event loop', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const [first] = await searchTools(manyTools(1_000, 2_000), 'tool7', 1);
  isOver = true;
  expect(first?.name).toBe('tool7');
  expect(turns).toBeGreaterThan(20);
});

it('searches the first 100 characters of each text if there are many tools', async () => {
  const others = manyTools(10_000, 10);
  const names = async (query: string) =>
    (
      await searchTools(
        [...others, tool('near', `${'- '.repeat(45)}invoice`), tool('far', `${'- '.repeat(55)}receipt`)],
        query,
        5,
      )
    ).map(({ name }) => name);
  expect([await names('invoice'), await names('receipt')]).toEqual([['near'], []]);
});

it('indexes equal lists once', async () => {
  const added = vi.spyOn(MiniSearch.prototype, 'addAllAsync');
  const list = (description: string) => [tool('once', description)];
  await searchTools(list('one'), 'once', 5);
  await searchTools(list('one'), 'once', 5);
  expect(added).toHaveBeenCalledTimes(1);
  await searchTools(list('other'), 'once', 5);
  expect(added).toHaveBeenCalledTimes(2);
  added.mockRestore();
});
