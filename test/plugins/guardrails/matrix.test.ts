import { describe, expect, it } from 'vitest';
import { createHarness, type Harness, organisationId, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import {
  actionsOf,
  both,
  checkOf,
  configOf,
  expectationOf,
  type Row,
  routes,
  rows,
  sources,
  textOf,
  words,
} from '../../support/samples/guardrail-matrix.ts';

/** Stores the guardrail of a row that its config does not hold itself. */
function save(gateway: Harness, row: Row): void {
  const { side, source } = row;
  const ofOrganisation = source === 'default of the organisation';
  if (!ofOrganisation && source !== 'saved' && source !== 'default of the workspace') return;
  gateway.documents.set(`guardrail ${ofOrganisation ? organisationId : workspaceId}/g`, {
    ...{ id: '00000000-0000-4000-8000-000000000007', slug: 'g', versionId: '11111111-0000-4000-8000-000000000001' },
    ...{ organisationId, workspaceId: ofOrganisation ? null : workspaceId, secrets: null },
    ...{ checks: [checkOf(row)], actions: actionsOf(row) },
  });
  if (source === 'saved') return;
  const none = { organisationStart: [], start: [], organisationInput: [], organisationOutput: [], input: [], output: [] };
  const list = ofOrganisation ? (side === 'input' ? 'organisationInput' : 'organisationOutput') : side;
  const key = `workspace ${workspaceId}`;
  gateway.documents.set(key, { ...(gateway.documents.get(key) as object), guardrails: { ...none, [list]: ['g'] } });
}

/** Every row of the first route, and every fifth one of the others. LONG_TESTS: all. */
const sent = rows.filter((row, at) => process.env.LONG_TESTS || row.route === routes[0] || at % 5 === 0);

/** The pairs of values that meet in the rows of a route. */
function pairsOf(all: readonly Row[], ofRoute: Row['route']): string[] {
  const pairs = all.flatMap(({ route, ...columns }) => {
    const values = route === ofRoute ? Object.entries(columns).map(([name, value]) => `${name} ${value}`) : [];
    return values.flatMap((one) => values.map((other) => `${one}, ${other}`));
  });
  return [...new Set(pairs)].sort();
}

describe('guardrails by route, stream mode, verdict, execution, source and fallback', () => {
  const count = routes.length * sources.length * both.length * (2 * 4 * 8 - 2 * 4);
  it(`covers ${count} rows`, () => expect(rows).toHaveLength(count));

  it.each(routes)('$name: each value of a column meets each of another', (route) => {
    expect(pairsOf(sent, route)).toEqual(pairsOf(rows, route));
  });

  it.each(routes.map((route) => [route.name, route] as const))(
    '%s: has the expected status, calls, text and record in its rows',
    async (_name, route) => {
      for (const row of sent.filter((each) => each.route === route)) {
        const gateway = createHarness();
        save(gateway, row);
        const isStream = row.stream !== 'plain';
        gateway.script(isStream ? route.stream(words) : replyWith(200, route.plain(words.join(''))));
        const sink = await gateway.send({
          path: route.path,
          headers: { 'x-svc-config': JSON.stringify(configOf(row)) },
          body: { model: 'm', ...route.body, ...(isStream ? { stream: true } : {}) },
        });
        const { route: _route, ...columns } = row;
        const expected = expectationOf(row);
        const [record] = gateway.records;
        const seen = {
          status: sink.status,
          calls: gateway.calls.length,
          leaves: textOf(sink.text).includes('forbidden') || sink.text.includes('forbidden"'),
          outcome: record?.outcome,
        };
        expect({ ...columns, ...seen }).toEqual({ ...columns, ...expected });
        const verdicts = record?.guardrails?.map(({ verdict }) => verdict) ?? [];
        expect({ ...columns, ran: verdicts.length > 0, failed: verdicts.includes(false) }).toEqual({
          ...columns,
          ran: true,
          failed: !row.passes,
        });
      }
    },
  );
});
