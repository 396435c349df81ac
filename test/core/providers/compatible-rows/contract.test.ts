import { describe, expect, it } from 'vitest';
import { compatibleRows } from '../../../../core/providers/compatible-rows/index.ts';
import { openModels, rows } from '../../../../core/providers/compatible-rows/rows.ts';
import type { CompatibleAdapter, CompatibleProvider } from '../../../../core/providers/shared/openai-compatible.ts';
import { providerContractSuite } from '../contract-suite.ts';
import { fixturesOf } from '../provider-fixtures.ts';

const { calls, errors } = fixturesOf('compatible-rows');
const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  databricks: { databricks_workspace: 'dbc-1a2b' },
  'workers-ai': { workers_ai_account_id: '0123456789abcdef' },
};

/** The fixtures of this row's class of requests, and of nothing it does not offer. */
function fixturesFor(row: CompatibleProvider): ReturnType<typeof fixturesOf> {
  const chatClass = row.chat === openModels ? 'open-models' : 'many-makers';
  const wanted = {
    chatComplete: (name: string) => name.startsWith(`${chatClass}-`),
    embed: (name: string) => name === (row.embed === undefined ? 'embeddings' : `${row.id}-embeddings`),
    imageGenerate: (name: string) => name === (row.images === undefined ? 'image' : `${row.id}-image`),
    rerank: (name: string) => name === `${row.id}-rerank`,
  };
  return {
    calls: calls.filter(({ name, operation }) => {
      if (!row.operations.some((offered) => offered === operation)) return false;
      return operation in wanted ? wanted[operation as keyof typeof wanted](name) : true;
    }),
    errors: errors.map((error) => ({
      ...error,
      fault: { ...error.fault, message: error.fault.message.replace('compatible-rows', row.id) },
    })),
  };
}

for (const [index, row] of rows.entries()) {
  providerContractSuite(compatibleRows[index] as CompatibleAdapter, {
    settings: settings[row.id] ?? {},
    finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', eos: 'stop' },
    row: { folder: 'compatible-rows', fixtures: fixturesFor(row) },
  });
}

describe('the table of rows', () => {
  it('is in alphabetical order and has every id once', () => {
    const ids = rows.map((row) => row.id);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it('uses every fixture', () => {
    const used = new Set(rows.flatMap((row) => fixturesFor(row).calls.map((call) => call.name)));
    expect([...used].sort()).toEqual(calls.map((call) => call.name).sort());
  });

  it('calls public https addresses', () => {
    for (const adapter of compatibleRows) {
      const url = new URL(adapter.baseUrl(settings[adapter.id] ?? {}));
      expect([adapter.id, url.protocol, url.hostname.includes('.')]).toEqual([adapter.id, 'https:', true]);
    }
  });

  it('lets nothing but a plain name into an address', () => {
    for (const [id, given] of Object.entries(settings)) {
      const adapter = compatibleRows.find((candidate) => candidate.id === id) as CompatibleAdapter;
      const [name] = Object.keys(given) as [string];
      for (const value of ['evil.example/', 'a.b', 'a#', 'a?b', '../a', 'a@b', '']) {
        const result = adapter.settings['~standard'].validate({ [name]: value });
        expect([value, 'issues' in result && result.issues !== undefined]).toEqual([value, true]);
      }
      expect(() => adapter.baseUrl({})).toThrow(name);
    }
  });
});
