import { expect, it } from 'vitest';
import { searchTools } from '../../../../core/mcp/tool-search/search-tools.ts';

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const found = (description: string, query: string) => searchTools([tool('a', description)], query, 10).length;

it('finds words with two wrong letters at most, however long they are', () => {
  expect([found('reconciliations', 'reconsiliasions'), found('reconciliations', 'rekonsiliasions')]).toEqual([1, 0]);
});

it('searches the first 32 words of a query, and the first 8,000 characters of a description', () => {
  const others = Array.from({ length: 32 }, (_, i) => `w${i}`).join(' ');
  expect([found('invoice', `${others.slice(0, -4)} invoice`), found('invoice', `${others} invoice`)]).toEqual([1, 0]);
  expect([found(`${'- '.repeat(3_000)}invoice`, 'invoice'), found(`${'- '.repeat(5_000)}invoice`, 'invoice')]).toEqual([1, 0]);
});
