import { expect, it } from 'vitest';
import { lists, shownItems } from '../../../../core/mcp/lists/capabilities.ts';
import type { ServerSettings } from '../../../../core/mcp/server/server-settings.ts';

const list = lists['resources/list'] as (typeof lists)[string];

it('a list with many disabled templates lets the event loop turn, and keeps the order of the enabled resources', async () => {
  let turns = 0;
  const turn = (): void => {
    turns++;
    turning = setImmediate(turn);
  };
  let turning = setImmediate(turn);
  const shown = await shownItems(serverWith(1_000), list, resources(100));
  clearImmediate(turning);
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(shown).toEqual(resources(100).filter(({ uri }) => !uri.endsWith('7')));
});

it('a list with few comparisons is there at once', () => {
  expect(shownItems(serverWith(10), list, resources(100))).toHaveLength(90);
});

function resources(count: number): { uri: string }[] {
  return Array.from({ length: count }, (_, i) => ({ uri: `x://${i}` }));
}

function serverWith(templates: number): ServerSettings {
  const document = { disabled: { resource_template: Array.from({ length: templates }, (_, i) => `y://{a}/${i}`) } };
  return { document, isEnabled: (_type: string, uri: string) => !uri.endsWith('7') } as unknown as ServerSettings;
}
