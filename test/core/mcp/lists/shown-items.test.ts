import { expect, it } from 'vitest';
import { lists, shownItems } from '../../../../core/mcp/lists/capabilities.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';

const list = lists['resources/list'] as (typeof lists)[string];

it('a list with long comparisons lets the event loop turn, and keeps the order of the enabled resources', async () => {
  let turns = 0;
  const turn = (): void => {
    turns++;
    turning = setImmediate(turn);
  };
  let turning = setImmediate(turn);
  let ms = 0;
  const shown = await shownItems(server, list, resources(100), () => ms++);
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(shown).toEqual(resources(100).filter(({ uri }) => !uri.endsWith('7')));
});

it('a list with short comparisons is there at once', () => {
  expect(shownItems(server, list, resources(100), () => 0)).toHaveLength(90);
});

function resources(count: number): { uri: string }[] {
  return Array.from({ length: count }, (_, i) => ({ uri: `x://${i}` }));
}

const server = { isEnabled: (_type: string, uri: string) => !uri.endsWith('7') } as unknown as ServerSettings;
