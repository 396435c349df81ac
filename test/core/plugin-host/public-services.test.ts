import { expect, it } from 'vitest';
import type { CoreServices } from '../../../core/contract/plugin/core-plugin.ts';
import { publicServices } from '../../../core/plugin-host/public-services.ts';

it('counts tokens in the turn of the workspace that a plugin names', async () => {
  const asked: unknown[] = [];
  const own = { countTokens: async (...given: unknown[]) => asked.push(...given) } as unknown as CoreServices;
  await publicServices(own).countTokens(['a text'], 100, 'workspace-1');
  expect(asked).toEqual([['a text'], 100, 'workspace-1']);
});

it('names the mistake in an argument', async () => {
  const services = publicServices({} as CoreServices);
  await expect(services.countTokens('a text' as never, 100)).rejects.toThrow('services.countTokens: expected a list of texts');
  expect(() => services.documents.get('workspaces' as 'workspace', 'w')).toThrow(
    'services.documents.get: unknown kind workspaces; expected one of api-key, config, ',
  );
});
