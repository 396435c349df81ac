import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { basesOf, followsDeployment, routeDescriptions } from '../../../core/contract/protocol/route-descriptions.ts';
import { matchEndpoint } from '../../../core/endpoints/match-endpoint.ts';
import { routeNames } from '../../../core/endpoints/routes.ts';

describe('route descriptions of the data plane', () => {
  it('cover each route of the table once', () => {
    expect(Object.keys(routeDescriptions).sort()).toEqual([...routeNames].sort());
  });

  it('are in the README of core/endpoints, by path or by a path above it', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../core/endpoints/README.md'), 'utf8');
    const cells = readme
      .split('\n')
      .filter((line) => /^\| `(?:[A-Z]+ )?\//.test(line))
      .map((line) => line.split('|')[1] ?? '');
    const names = cells.flatMap((cell) => [...cell.matchAll(/`(?:[A-Z]+ )?(\/[^`]+)`( and below)?/g)]);
    const isListed = (path: string) =>
      names.some(([, name, below]) => path === name || (below !== undefined && path.startsWith(`${name}/`)));
    expect(routeNames.map((route) => route.split(' ')[1] as string).filter((path) => !isListed(path))).toEqual([]);
  });

  it.each(Object.entries(routeDescriptions))(
    '%s is described with the name, body, format and scopes of its route',
    (key, described) => {
      const [method = '', path = ''] = key.split(' ');
      const endpoint = matchEndpoint(method, `/v1${path.replace(/\{\w+\}/g, 'x')}`);
      expect(endpoint).toMatchObject({ name: described.name, format: described.format });
      const { body, operation, scopes } = endpoint as Extract<typeof endpoint, object>;
      expect(described.body).toBe(body ?? (operation === null ? 'none' : 'json'));
      expect(described.scopes ?? ['completions.write']).toEqual(scopes);
      const at = path.replace(/\{\w+\}/g, 'x');
      for (const base of basesOf(described)) {
        expect(matchEndpoint(method, `${base}${at}`)).toMatchObject({ name: described.name });
      }
      const deployment = matchEndpoint(method, `/openai/deployments/gpt${at}`);
      expect(typeof deployment === 'object').toBe(followsDeployment(key, described));
      if (described.isOwn) expect(matchEndpoint(method, `/openai${at}`)).toBe('not-found');
    },
  );
});
